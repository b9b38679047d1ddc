// Suite.java -- bindings/suite.json in Java. Suite SUITE. SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.rnnpack.Compiler;
import org.rnnpack.Constants;
import org.rnnpack.Model;
import org.rnnpack.Options;
import org.rnnpack.RnnpackException;
import org.rnnpack.Session;
import org.rnnpack.Status;
import org.rnnpack.Tensor;

public final class Suite {
    interface Kind {
        void run(Map<String, String> c) throws Exception;
    }

    interface Call {
        void run() throws Exception;
    }

    static Path folder;

    static byte[] bytes(String name) throws IOException {
        return Files.readAllBytes(folder.resolve(name));
    }

    static FloatBuffer floats(String name) throws IOException {
        byte[] all = bytes(name);
        FloatBuffer floats = Session.floats(all.length / 4);
        floats.put(ByteBuffer.wrap(all).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer());
        floats.flip();
        return floats;
    }

    static Options reference(int batch, int steps) {
        return new Options().maxBatch(batch).maxSteps(steps).isaAllowed(Constants.ISA_REFERENCE_ONLY);
    }

    static Session open(String blob, int batch, int steps) throws IOException {
        try (Model model = new Model(bytes(blob), true)) {
            return new Session(model, reference(batch, steps));
        }
    }

    static Session open(String blob) throws IOException {
        return open(blob, 1, 0);
    }

    static int number(Map<String, String> c, String key) {
        return Integer.parseInt(c.get(key));
    }

    static void expect(boolean right, String what) {
        if (!right) throw new AssertionError(what);
    }

    static void same(FloatBuffer got, FloatBuffer want) {
        expect(got.remaining() == want.remaining(), "another size");
        for (int i = 0; i < got.remaining(); ++i) {
            expect(Float.floatToRawIntBits(got.get(got.position() + i)) == Float.floatToRawIntBits(want.get(want.position() + i)), "other bits");
        }
    }

    static FloatBuffer slice(FloatBuffer all, int from, int to) {
        FloatBuffer part = all.duplicate();
        part.limit(to);
        part.position(from);
        return part;
    }

    static <E extends Throwable> E thrown(Class<E> kind, Call call) {
        try {
            call.run();
        } catch (Throwable error) {
            if (kind.isInstance(error)) return kind.cast(error);
            throw new AssertionError("throws " + error);
        }
        throw new AssertionError("throws nothing");
    }

    static void fails(int status, Call call) {
        RnnpackException error = thrown(RnnpackException.class, call);
        expect(error.status().code == status, "gives " + error.status());
        expect(error.getClass() != RnnpackException.class, "has no class of its own");
    }

    static FloatBuffer stream(Session session, FloatBuffer input, int from, int to) {
        int width = session.model().inputs().get(0).rowElems;
        FloatBuffer y = Session.floats(to - from);
        FloatBuffer in = input.duplicate();
        FloatBuffer out = y.duplicate();
        for (int i = from; i < to; ++i) {
            in.limit((i + 1) * width).position(i * width);
            out.limit(i - from + 1).position(i - from);
            session.step(in, out);
        }
        return y;
    }

    static List<Buffer> tensors(List<Tensor> tensors, int steps, int batch, boolean fill, String spoil) {
        List<Buffer> buffers = new ArrayList<>();
        int state = 1;
        for (Tensor tensor : tensors) {
            int elems = (int) tensor.elems(steps, batch);
            FloatBuffer floats = tensor.isOptional() || tensor.isInt ? null : Session.floats(elems);
            IntBuffer ints = tensor.isOptional() || !tensor.isInt ? null : Session.ints(elems);
            for (int k = 0; fill && !tensor.isOptional() && k < elems; ++k) {
                state = state * 1664525 + 1013904223;
                if (ints != null) ints.put(k, (state >>> 16) % tensor.limit);
                else floats.put(k, (state >>> 16) / 32768.0f - 1.0f);
            }
            if (fill && buffers.isEmpty() && spoil.equals("nan")) floats.put(0, Float.NaN);
            if (fill && buffers.isEmpty() && spoil.equals("index")) ints.put(0, tensor.limit);
            buffers.add(ints != null ? ints : floats);
        }
        return buffers;
    }

    static String lineOf(byte[] labels, FloatBuffer y) {
        int[] all = new int[3];
        int[] voice = new int[3];
        for (int i = 0; i < labels.length; ++i) {
            ++all[labels[i]];
            if (y.get(i) >= 0.5f) ++voice[labels[i]];
        }
        return "loud speech frames found " + voice[1] + " of " + all[1] + ", speech said in the gaps " + voice[2] + " of " + all[2] + " frames";
    }

    static void status(Map<String, String> c) {
        Status status = Status.of(number(c, "code"));
        RnnpackException error = RnnpackException.of(status);
        expect(("RNNP_E_" + error.status()).equals(c.get("constant")) && error.status().code == number(c, "code"), "another name");
        expect(error.getMessage().length() > 8 && !error.getMessage().equals(RnnpackException.of(Status.OK).getMessage()), "no text");
        expect(error.getClass().getSimpleName().equalsIgnoreCase(status.name().replace("_", "")), "no class of its own");
    }

    static void golden(Map<String, String> c) throws IOException {
        int steps = number(c, "steps");
        try (Model model = new Model(bytes(c.get("blob")), true)) {
            int batch = model.fixedBatch() != 0 ? model.fixedBatch() : number(c, "batch");
            try (Session session = new Session(model, reference(batch, steps))) {
                List<Buffer> y = tensors(model.outputs(), steps, batch, false, "no");
                session.run(steps, batch, tensors(model.inputs(), steps, batch, true, "no"), y, 0, null, null);
                FloatBuffer want = floats(c.get("output"));
                int at = 0;
                for (Buffer each : y) {
                    same((FloatBuffer) each, slice(want, at, at + each.remaining()));
                    at += each.remaining();
                }
                expect(at == want.remaining(), "another size");
            }
        }
    }

    static void streamed(Map<String, String> c) throws IOException {
        FloatBuffer want = floats(c.get("output"));
        try (Session session = open(c.get("blob"))) {
            FloatBuffer y = stream(session, floats(c.get("input")), 0, want.remaining());
            same(y, want);
            String line = lineOf(bytes(c.get("labels")), y);
            expect(line.equals(new String(bytes(c.get("line")), StandardCharsets.UTF_8)), "another line");
            System.out.println(line);
        }
    }

    static void threads(Map<String, String> c) throws Exception {
        FloatBuffer want = floats(c.get("output"));
        FloatBuffer input = floats(c.get("input"));
        FloatBuffer[] got = new FloatBuffer[number(c, "count")];
        try (Model model = new Model(bytes(c.get("blob")))) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < got.length; ++i) {
                int mine = i;
                threads.add(new Thread(() -> {
                    try (Session session = new Session(model, reference(1, 0))) {
                        got[mine] = stream(session, input, 0, want.remaining());
                    }
                }));
            }
            for (Thread thread : threads) thread.start();
            for (Thread thread : threads) thread.join();
        }
        for (FloatBuffer each : got) same(each, want);
    }

    static void state(Map<String, String> c) throws IOException {
        FloatBuffer input = floats(c.get("input"));
        FloatBuffer want = floats(c.get("output"));
        byte[] saved = bytes(c.get("state"));
        int at = number(c, "at");
        try (Session loaded = open(c.get("blob")); Session streamed = open(c.get("blob"))) {
            loaded.loadState(0, saved);
            same(stream(loaded, input, at, want.remaining()), slice(want, at, want.limit()));
            stream(streamed, input, 0, at);
            expect(Arrays.equals(streamed.saveState(0), saved), "saves other bytes");
        }
    }

    static void load(Map<String, String> c) throws IOException {
        try (Session session = open(c.get("blob"))) {
            fails(number(c, "status"), () -> session.loadState(0, bytes(c.get("state"))));
            same(stream(session, floats(c.get("input")), 0, 10), slice(floats(c.get("output")), 0, 10));
        }
    }

    static void refusedRun(Map<String, String> c) throws IOException {
        int steps = number(c, "steps");
        int batch = number(c, "batch");
        try (Session session = open(c.get("blob"), number(c, "max_batch"), steps)) {
            Model model = session.model();
            fails(number(c, "status"), () -> session.run(steps, batch, tensors(model.inputs(), steps, batch, true, c.get("spoil")),
                tensors(model.outputs(), steps, batch, false, "no"), number(c, "flags"), null, null));
        }
    }

    static long residentKib() throws IOException {
        for (String line : Files.readAllLines(Paths.get("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) return Long.parseLong(line.replaceAll("\\D", ""));
        }
        return 0;
    }

    static void growth(Map<String, String> c) throws IOException {
        int count = number(c, "count");
        byte[] blob = bytes(c.get("blob"));
        FloatBuffer x = Session.floats(256);
        FloatBuffer y = Session.floats(1);
        long before = 0;
        for (int i = 0; i < count; ++i) {
            try (Model model = new Model(blob, true); Session session = new Session(model, reference(1, 0))) {
                session.step(x, y);
            }
            if (i == count / 10) before = residentKib();
        }
        long grown = residentKib() - before;
        expect(grown <= 1024, "grew by " + grown + " KiB");
    }

    static void misuse(Map<String, String> c) throws Exception {
        FloatBuffer x = slice(floats(c.get("input")), 0, 256);
        FloatBuffer y = Session.floats(1);
        try (Model model = new Model(bytes(c.get("blob"))); Session session = new Session(model, reference(1, 0))) {
            switch (c.get("what")) {
                case "closed_session":
                    session.close();
                    session.close();
                    thrown(IllegalStateException.class, () -> session.step(x, y));
                    thrown(IllegalStateException.class, () -> session.saveState(0));
                    thrown(IllegalStateException.class, session::reset);
                    return;
                case "closed_model":
                    model.close();
                    thrown(IllegalStateException.class, () -> new Session(model));
                    thrown(IllegalStateException.class, () -> model.meta("name"));
                    break;
                case "short_input":
                    fails(-12, () -> session.step(slice(x, 0, 255), y));
                    thrown(IllegalArgumentException.class, () -> session.step(FloatBuffer.allocate(256), y));
                    thrown(IllegalArgumentException.class, () -> session.step(ByteBuffer.allocateDirect(1024).asFloatBuffer(), y));
                    break;
                case "short_output":
                    fails(-12, () -> session.step(x, slice(y, 1, 1)));
                    break;
                default:
                    twoThreads(session);
            }
            session.step(x, y);
        }
    }

    static void twoThreads(Session session) throws InterruptedException {
        AtomicInteger refused = new AtomicInteger();
        AtomicInteger other = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int k = 0; k < 2; ++k) {
            threads.add(new Thread(() -> {
                FloatBuffer x = Session.floats(256 * 4000);
                FloatBuffer y = Session.floats(4000);
                for (int i = 0; i < 40 && refused.get() == 0; ++i) {
                    try {
                        session.run(4000, x, y);
                    } catch (IllegalStateException error) {
                        refused.incrementAndGet();
                    } catch (RuntimeException error) {
                        other.incrementAndGet();
                    }
                }
            }));
        }
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
        expect(refused.get() > 0 && other.get() == 0, "the second thread is not refused");
    }

    static void compile(Map<String, String> c) throws IOException {
        byte[] onnx = bytes(c.get("onnx"));
        String[] options = c.get("option").equals("-") ? new String[0] : new String[] {c.get("option")};
        if (number(c, "status") == 0) {
            expect(Arrays.equals(Compiler.compile(onnx, options).blob(), bytes(c.get("blob"))), "another blob");
            return;
        }
        Compiler.CompileException error = thrown(Compiler.CompileException.class, () -> Compiler.compile(onnx, options));
        expect(error.status.code == number(c, "status") && error.getMessage().length() > 8, "gives " + error.status + ": " + error.getMessage());
    }

    static void overhead(Map<String, String> c) throws IOException {
        try (Model model = new Model(bytes(c.get("blob"))); Session session = new Session(model)) {
            FloatBuffer x = Session.floats(model.inputs().get(0).rowElems);
            FloatBuffer y = Session.floats(model.outputs().get(0).rowElems);
            double least = 1e9;
            for (int piece = 0; piece < number(c, "count") / 1000; ++piece) {
                long start = System.nanoTime();
                for (int i = 0; i < 1000; ++i) session.step(x, y);
                least = Math.min(least, (System.nanoTime() - start) / 1000.0);
            }
            System.out.printf("overhead %.1f%n", least);
        }
    }

    public static void main(String[] args) throws IOException {
        folder = Paths.get(args[0]);
        System.out.println("version Java " + System.getProperty("java.version"));
        Map<String, Kind> kinds = new HashMap<>();
        kinds.put("status", Suite::status);
        kinds.put("stream", Suite::streamed);
        kinds.put("golden", Suite::golden);
        kinds.put("threads", Suite::threads);
        kinds.put("state", Suite::state);
        kinds.put("load", Suite::load);
        kinds.put("open", c -> fails(number(c, "status"), () -> new Model(bytes(c.get("blob")), true)));
        kinds.put("session", c -> fails(number(c, "status"), () -> open(c.get("blob"), number(c, "max_batch"), number(c, "max_steps"))));
        kinds.put("run", Suite::refusedRun);
        kinds.put("growth", Suite::growth);
        kinds.put("misuse", Suite::misuse);
        kinds.put("compile", Suite::compile);
        kinds.put("overhead", Suite::overhead);
        boolean failed = false;
        for (String text : Files.readAllLines(folder.resolve("suite.txt"))) {
            String[] words = text.split(" ");
            Map<String, String> c = new LinkedHashMap<>();
            for (String word : Arrays.copyOfRange(words, 2, words.length)) c.put(word.substring(0, word.indexOf('=')), word.substring(word.indexOf('=') + 1));
            try {
                kinds.get(words[0]).run(c);
                System.out.println("ok " + words[1]);
            } catch (Throwable error) {
                failed = true;
                System.out.println("FAILED " + words[1] + ": " + error);
            }
        }
        System.exit(failed ? 1 : 0);
    }
}
