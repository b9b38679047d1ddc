// Native.java -- the functions of rnnpack_jni.c, and where the library comes from: the jar. Addresses and handles are longs; negative
// ones are statuses. SPDX-License-Identifier: Apache-2.0
package org.rnnpack;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.Buffer;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;

final class Native {
    private Native() {}

    static {
        load();
    }

    static native int version();

    static native String statusText(int status);

    static native String isaName(int bit);

    static native long address(Buffer buffer);

    static native long openModel(byte[] blob, boolean checkWeights);

    static native void closeModel(long model);

    /** inputs, outputs, causal, fixed batch, weight bytes, model id */
    static native int modelInfo(long model, long[] facts);

    static native String tensor(long model, boolean input, int index, int[] facts);

    static native String meta(long model, String key);

    /** sizes[0]: bytes of a row's state */
    static native long openSession(long model, int maxBatch, int maxSteps, int chunkSteps, int isa, long[] sizes);

    static native String explain(long model, int maxBatch, int maxSteps, int chunkSteps, int isa);

    static native void closeSession(long session);

    static native int sessionIsa(long session);

    static native int step(long session, long x, long y);

    static native int run(long session, long steps, long x, long y);

    static native int runIo(long session, int steps, int batch, int flags, int[] rows, int[] lengths, long[] inputs, long[] outputs);

    static native String lastError(long session);

    static native int reset(long session, int row);

    static native int saveState(long session, int row, byte[] state);

    static native int loadState(long session, int row, byte[] state);

    /** Statuses of the compiler; -1: no library of this name. Calls keep and hear of made. */
    static native int compile(String library, byte[] onnx, String[] options, Compiler.Output made);

    /** The file that org.rnnpack.library names, the jar's, or the system's (Android). */
    private static void load() {
        String named = System.getProperty("org.rnnpack.library");
        if (named != null) {
            System.load(new File(named).getAbsolutePath());
            return;
        }
        String path = "/native/" + platform() + "/" + System.mapLibraryName("rnnpack_jni");
        try (InputStream packed = Native.class.getResourceAsStream(path)) {
            if (packed == null) {
                System.loadLibrary("rnnpack_jni");
                return;
            }
            File file = File.createTempFile("rnnpack_jni", ".so");
            try {
                Files.copy(packed, file.toPath(), StandardCopyOption.REPLACE_EXISTING);
                System.load(file.getAbsolutePath());
            } finally {
                // Loaded, it needs no name any more; Windows deletes it on exit.
                if (!file.delete()) file.deleteOnExit();
            }
        } catch (IOException error) {
            throw new UnsatisfiedLinkError(path + ": " + error.getMessage());
        }
    }

    static String platform() {
        String os = System.getProperty("os.name").toLowerCase(java.util.Locale.ROOT);
        String arch = System.getProperty("os.arch");
        String system = os.startsWith("windows") ? "windows" : os.startsWith("mac") ? "macos" : "linux";
        return system + "-" + (arch.equals("amd64") ? "x86_64" : arch.equals("arm64") ? "aarch64" : arch);
    }
}
