package dev.torchane.venv;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;

/** A package index on this machine that can be told to misbehave. Files lie beside the pages, named relatively. */
final class TinyIndex implements AutoCloseable {

    private final HttpServer server;
    private final Map<String, TinyWheel> wheels = new ConcurrentHashMap<>();
    private final List<String> requests = new CopyOnWriteArrayList<>();

    volatile boolean answersRanges = true;
    volatile boolean speaksJson = true;
    /** Bytes of a wheel after which the connection breaks; negative for never. */
    volatile int breaksAfter = -1;
    /** Whether the connection falls silent instead of breaking. */
    volatile boolean breaksBySilence;

    /** How many more times it breaks. */
    volatile int breaks = Integer.MAX_VALUE;

    TinyIndex(TinyWheel... wheels) throws IOException {
        for (TinyWheel wheel : wheels) {
            serve(wheel);
        }
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/root/simple/", this::page);
        server.createContext("/root/files/", this::file);
        server.start();
    }

    /** Serves this wheel under its file name, whatever was there. */
    void serve(TinyWheel wheel) {
        wheels.put(wheel.file(), wheel);
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/root/simple";
    }

    /** What was asked: path, and the range if there was one. */
    List<String> requests() {
        return requests;
    }

    List<String> requestsFor(TinyWheel wheel) {
        return requests.stream().filter(r -> r.contains(wheel.file())).toList();
    }

    private void page(HttpExchange exchange) throws IOException {
        requests.add(exchange.getRequestURI().getPath());
        String[] path = exchange.getRequestURI().getPath().split("/");
        String name = path[path.length - 1];
        var links = new ArrayList<String>();
        for (TinyWheel wheel : wheels.values()) {
            if (PackageIndex.normalized(wheel.name()).equals(name)) {
                links.add(
                        speaksJson
                                ? "{\"filename\": \"%s\", \"url\": \"../../files/%s\", \"hashes\": {}}"
                                        .formatted(wheel.file(), wheel.file())
                                : "<a data-x='1' href=\"../../files/%s#sha256=00\">%s</a><br/>"
                                        .formatted(wheel.file(), wheel.file()));
            }
        }
        String type = speaksJson ? "application/vnd.pypi.simple.v1+json" : "text/html";
        String text = speaksJson
                ? "{\"files\": [" + String.join(", ", links) + "]}"
                : "<!DOCTYPE html><html><body>" + String.join("\n", links) + "</body></html>";
        exchange.getResponseHeaders().set("Content-Type", type);
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(links.isEmpty() ? 404 : 200, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private void file(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        String range = exchange.getRequestHeaders().getFirst("Range");
        requests.add(path + (range == null ? "" : " " + range));
        byte[] bytes = wheels.get(path.substring(path.lastIndexOf('/') + 1)).bytes();
        int from = 0;
        int to = bytes.length;
        if (range != null && answersRanges) {
            var matcher = Pattern.compile("bytes=(\\d+)-(\\d*)").matcher(range);
            if (!matcher.matches()) {
                throw new IOException("unexpected range " + range);
            }
            from = Integer.parseInt(matcher.group(1));
            to = matcher.group(2).isEmpty() ? to : Integer.parseInt(matcher.group(2)) + 1;
            exchange.getResponseHeaders().set("Content-Range", "bytes %d-%d/%d".formatted(from, to - 1, bytes.length));
        }
        exchange.sendResponseHeaders(range != null && answersRanges ? 206 : 200, to - from);
        boolean broken = breaksAfter >= 0 && to - from > breaksAfter && breaks-- > 0;
        exchange.getResponseBody().write(Arrays.copyOfRange(bytes, from, broken ? from + breaksAfter : to));
        exchange.getResponseBody().flush();
        if (broken && breaksBySilence) {
            pause();
        }
        exchange.close();
    }

    private static void pause() {
        try {
            Thread.sleep(20_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
