/**
 * The Stable Diffusion loop on latents: schedulers, guidance, random numbers equal to torch's, images. Knows nothing of which
 * engine runs its three models.
 */
package dev.torchane.diffusion;
