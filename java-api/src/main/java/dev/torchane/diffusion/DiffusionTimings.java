package dev.torchane.diffusion;

import java.util.List;

/**
 * Where the time of a picture went.
 *
 * @param textNanos text encoder
 * @param unetNanos UNet, for each call of it
 * @param vaeNanos VAE: the decoder, previews included, and the encoder where there was a picture to begin with
 * @param totalNanos everything, from the ids to the pixels
 */
public record DiffusionTimings(long textNanos, List<Long> unetNanos, long vaeNanos, long totalNanos) {

    public DiffusionTimings {
        unetNanos = List.copyOf(unetNanos);
    }
}
