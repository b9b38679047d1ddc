// Compiler.java -- rnnpack/compiler.h: blobs from ONNX files, made in this process as `rnnpack compile` makes them.
// SPDX-License-Identifier: Apache-2.0
package org.rnnpack;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The compiler, on hosts that have librnnpack_compiler: org.rnnpack.compiler names its file, else the system looks for it. A program
 * that only runs blobs never loads it.
 */
public final class Compiler {
    /** Why there is no blob. */
    public static final class CompileException extends RuntimeException {
        private static final long serialVersionUID = 1;
        /** What kind of error it is. */
        public final CompileStatus status;

        CompileException(CompileStatus status, String message) {
            super(message);
            this.status = status;
        }
    }

    /** What a call made. */
    public static final class Output {
        private final Map<String, byte[]> files = new LinkedHashMap<>();
        private final List<String> messages = new ArrayList<>();
        private String why = "";

        private Output() {}

        /** The blob; empty where the option output names it. */
        public byte[] blob() {
            return files.getOrDefault("", new byte[0]);
        }

        /** Files by the paths that options name: output, emit-c, report. */
        public Map<String, byte[]> files() {
            return Collections.unmodifiableMap(files);
        }

        /** Notes, reports and summaries. */
        public List<String> messages() {
            return Collections.unmodifiableList(messages);
        }

        // Called by C.
        void keep(String path, byte[] bytes) {
            files.put(path, bytes);
        }

        void hear(int kind, String text) {
            if (kind == CompileMessage.ERROR) why = text;
            else if (kind != CompileMessage.PROGRESS) messages.add(text);
        }
    }

    private Compiler() {}

    /** Options are the tool's long ones without their dashes: "target=avx2". Calls may run at the same time. */
    public static Output compile(byte[] onnx, String... options) {
        String named = System.getProperty("org.rnnpack.compiler", System.mapLibraryName("rnnpack_compiler"));
        Output made = new Output();
        int status = Native.compile(named, onnx, options, made);
        if (status < 0) throw new UnsatisfiedLinkError(named + ": not found, or without rnnp_compile (system property org.rnnpack.compiler)");
        if (status != 0) throw new CompileException(CompileStatus.of(status), made.why);
        return made;
    }
}
