package dev.torchane.diffusion;

import dev.torchane.TorchAneException;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageTypeSpecifier;
import javax.imageio.ImageWriter;
import javax.imageio.metadata.IIOMetadata;
import javax.imageio.metadata.IIOMetadataNode;
import javax.imageio.stream.ImageOutputStream;

/** A PNG file with a text in it. */
public final class PngFile {

    private static final String FORMAT = "javax_imageio_png_1.0";

    private PngFile() {}

    /**
     * Writes a picture beside its place and moves it there: a file that exists is whole.
     *
     * @param keyword name of the text chunk; {@code parameters} is what programs for such pictures read
     * @param text any characters: it becomes a {@code tEXt} chunk in Latin-1 where that is enough, else an {@code iTXt} chunk in UTF-8
     * @throws TorchAneException when it cannot be written
     */
    public static void write(BufferedImage image, String keyword, String text, Path file) {
        Path target = file.toAbsolutePath();
        try {
            Path partial = Files.createTempFile(
                    target.getParent(), target.getFileName().toString(), ".partial");
            try {
                try (OutputStream out = Files.newOutputStream(partial)) {
                    write(image, keyword, text, out);
                }
                Files.move(partial, target, StandardCopyOption.REPLACE_EXISTING);
            } finally {
                Files.deleteIfExists(partial);
            }
        } catch (IOException e) {
            throw new TorchAneException(file + " cannot be written: " + e, e);
        }
    }

    private static void write(BufferedImage image, String keyword, String text, OutputStream out) throws IOException {
        ImageWriter writer = ImageIO.getImageWritersByFormatName("png").next();
        try (ImageOutputStream stream = ImageIO.createImageOutputStream(out)) {
            IIOMetadata metadata =
                    writer.getDefaultImageMetadata(ImageTypeSpecifier.createFromRenderedImage(image), null);
            metadata.mergeTree(FORMAT, tree(keyword, text));
            writer.setOutput(stream);
            writer.write(new IIOImage(image, null, metadata));
        } finally {
            writer.dispose();
        }
    }

    private static IIOMetadataNode tree(String keyword, String text) {
        IIOMetadataNode root = new IIOMetadataNode(FORMAT);
        boolean latin = StandardCharsets.ISO_8859_1.newEncoder().canEncode(text);
        IIOMetadataNode chunk = new IIOMetadataNode(latin ? "tEXt" : "iTXt");
        IIOMetadataNode entry = new IIOMetadataNode(latin ? "tEXtEntry" : "iTXtEntry");
        entry.setAttribute("keyword", keyword);
        if (latin) {
            entry.setAttribute("value", text);
        } else {
            entry.setAttribute("compressionFlag", "FALSE");
            entry.setAttribute("compressionMethod", "0");
            entry.setAttribute("languageTag", "");
            entry.setAttribute("translatedKeyword", "");
            entry.setAttribute("text", text);
        }
        chunk.appendChild(entry);
        root.appendChild(chunk);
        return root;
    }
}
