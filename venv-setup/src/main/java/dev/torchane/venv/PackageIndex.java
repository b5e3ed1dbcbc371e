package dev.torchane.venv;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Says where a wheel lies, by the Simple API (PEP 503 pages and their PEP 691 JSON) of the indexes pip is configured to,
 * and the directories or pages of its {@code find-links}. Relative addresses are resolved against the page they stand
 * on. What is found is trusted only as far as the lock's SHA-256 goes.
 */
final class PackageIndex {

    private static final String ACCEPT =
            "application/vnd.pypi.simple.v1+json, " + "application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01";
    private static final Pattern ANCHOR =
            Pattern.compile("<a\\b[^>]*?\\bhref\\s*=\\s*(\"[^\"]*\"|'[^']*')", Pattern.CASE_INSENSITIVE);
    private static final Pattern BASE =
            Pattern.compile("<base\\b[^>]*?\\bhref\\s*=\\s*(\"[^\"]*\"|'[^']*')", Pattern.CASE_INSENSITIVE);

    private final Http http;
    private final List<String> indexes;
    private final List<String> findLinks;

    PackageIndex(Http http, List<String> indexes, List<String> findLinks) {
        this.http = http;
        this.indexes = indexes;
        this.findLinks = findLinks;
    }

    /** Where a wheel lies: {@code file:} or {@code http(s):}. */
    URI locate(String name, String version, String file) {
        var looked = new ArrayList<String>();
        for (String link : findLinks) {
            Optional<URI> found = inFindLinks(link, file, looked);
            if (found.isPresent()) {
                return found.get();
            }
        }
        for (String index : indexes) {
            URI page = URI.create(index).resolve(normalized(name) + "/");
            URI found = links(page, looked).get(file);
            if (found != null) {
                return found;
            }
        }
        throw new VenvException(
                "%s %s: no index has the file %s; looked at %s. Point pip's index-url (PIP_INDEX_URL or pip.conf) to an index that mirrors it"
                        .formatted(name, version, file, looked.isEmpty() ? "nothing (no-index is set)" : looked));
    }

    /** Every file that the first index to know the name has for it. */
    Map<String, URI> files(String name) {
        var looked = new ArrayList<String>();
        return indexes.stream()
                .map(index -> links(URI.create(index).resolve(normalized(name) + "/"), looked))
                .filter(files -> !files.isEmpty())
                .findFirst()
                .orElseThrow(() -> new VenvException("no index knows %s; looked at %s".formatted(name, looked)));
    }

    private Optional<URI> inFindLinks(String link, String file, List<String> looked) {
        if (link.startsWith("http:") || link.startsWith("https:")) {
            return Optional.ofNullable(links(URI.create(link), looked).get(file));
        }
        Path directory = link.startsWith("file:") ? Path.of(URI.create(link)) : Path.of(link);
        looked.add(directory.toString());
        Path wheel = directory.resolve(file);
        return Files.isRegularFile(wheel) ? Optional.of(wheel.toUri()) : Optional.empty();
    }

    /** The files of one page: address by file name. */
    private Map<String, URI> links(URI page, List<String> looked) {
        String shown = Http.shown(page);
        try (Http.Reply reply = http.get(page, ACCEPT)) {
            if (!reply.isOk()) {
                looked.add(shown + " (answered " + reply.status() + ")");
                return Map.of();
            }
            String text = new String(reply.body().readAllBytes(), StandardCharsets.UTF_8);
            var links = reply.contentType().contains("json") ? json(text, reply.uri()) : html(text, reply.uri());
            looked.add(shown + " (" + links.size() + " files)");
            return links;
        } catch (IOException e) {
            looked.add(shown + " (" + e + ")");
            return Map.of();
        }
    }

    static Map<String, URI> json(String text, URI page) throws IOException {
        var links = new LinkedHashMap<String, URI>();
        for (JsonNode file : Lock.json().readTree(text).path("files")) {
            links.put(
                    file.path("filename").asText(),
                    page.resolve(file.path("url").asText()));
        }
        return links;
    }

    static Map<String, URI> html(String text, URI page) {
        var base = BASE.matcher(text);
        URI from = base.find() ? page.resolve(unquoted(base.group(1))) : page;
        var links = new LinkedHashMap<String, URI>();
        var anchor = ANCHOR.matcher(text);
        while (anchor.find()) {
            URI target = from.resolve(unquoted(anchor.group(1)));
            String path = target.getRawPath() == null ? "" : target.getRawPath();
            String file = URLDecoder.decode(
                    path.substring(path.lastIndexOf('/') + 1).replace("+", "%2B"), StandardCharsets.UTF_8);
            links.put(file, target);
        }
        return links;
    }

    private static String unquoted(String attribute) {
        return attribute
                .substring(1, attribute.length() - 1)
                .strip()
                .replace("&amp;", "&")
                .replace(" ", "%20");
    }

    /** A distribution's name as it stands in addresses (PEP 503). */
    static String normalized(String name) {
        return name.replaceAll("[-_.]+", "-").toLowerCase(Locale.ROOT);
    }
}
