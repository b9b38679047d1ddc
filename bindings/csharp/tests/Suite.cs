// Suite.cs -- bindings/suite.json in C#. Suite.exe SUITE. SPDX-License-Identifier: Apache-2.0
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using System.Threading;
using Rnnpack;

internal static class Suite
{
    private static string folder;

    private static byte[] Bytes(string name) => File.ReadAllBytes(Path.Combine(folder, name));
    private static float[] Floats(string name) => MemoryMarshal.Cast<byte, float>(Bytes(name)).ToArray();
    private static Options Reference(int batch = 1, int steps = 0) => new Options { MaxBatch = batch, MaxSteps = steps, IsaAllowed = Constants.IsaReferenceOnly };
    private static Session Open(string blob, int batch = 1, int steps = 0)
    {
        using (var model = new Model(Bytes(blob), true)) return new Session(model, Reference(batch, steps));
    }

    private static void Expect(bool right, string what)
    {
        if (!right) throw new Exception(what);
    }
    private static void Same(float[] got, float[] want) => Expect(MemoryMarshal.AsBytes(got.AsSpan()).SequenceEqual(MemoryMarshal.AsBytes(want.AsSpan())), "other bits");
    private static E Throws<E>(Action call) where E : Exception
    {
        try { call(); }
        catch (E error) { return error; }
        throw new Exception("no " + typeof(E).Name);
    }
    private static void Fails(string status, Action call)
    {
        Status got = Throws<RnnpackException>(call).Status;
        Expect((int)got == int.Parse(status), "gives " + got);
    }

    private static float[] Stream(Session session, float[] input, int from, int to)
    {
        int width = session.Model.Inputs[0].RowElems;
        var y = new float[to - from];
        for (int i = from; i < to; ++i) session.Step(new ReadOnlySpan<float>(input, i * width, width), new Span<float>(y, i - from, 1));
        return y;
    }

    private static Array[] Tensors(IReadOnlyList<Tensor> tensors, int steps, int batch, bool fill, string spoil = "no")
    {
        uint state = 1;
        return tensors.Select((tensor, i) =>
        {
            if (tensor.Optional) return null;
            Array array = tensor.IsInt32 ? (Array)new int[Elems(tensor, steps, batch)] : new float[Elems(tensor, steps, batch)];
            for (int k = 0; fill && k < array.Length; ++k)
            {
                state = unchecked(state * 1664525u + 1013904223u);
                if (tensor.IsInt32) array.SetValue((int)((state >> 16) % (uint)tensor.Limit), k);
                else array.SetValue((state >> 16) / 32768.0f - 1.0f, k);
            }
            if (fill && i == 0 && spoil == "nan") array.SetValue(float.NaN, 0);
            if (fill && i == 0 && spoil == "index") array.SetValue(tensor.Limit, 0);
            return array;
        }).ToArray();
    }
    private static int Elems(Tensor tensor, int steps, int batch) => tensor.RowElems * batch * (tensor.Role == Role.Sequence ? steps : 1);

    private static string LineOf(byte[] labels, float[] y)
    {
        Func<int, bool, int> Count = (label, voice) => Enumerable.Range(0, labels.Length).Count(i => labels[i] == label && (!voice || y[i] >= 0.5f));
        return "loud speech frames found " + Count(1, true) + " of " + Count(1, false) + ", speech said in the gaps " + Count(2, true) + " of " + Count(2, false) + " frames";
    }

    private static readonly Dictionary<string, Action<Dictionary<string, string>>> Kinds = new Dictionary<string, Action<Dictionary<string, string>>>
    {
        ["status"] = c =>
        {
            var error = new RnnpackException((Status)int.Parse(c["code"]));
            Expect("RNNP_E_" + string.Concat(error.Status.ToString().Select((letter, i) => (i > 0 && char.IsUpper(letter) ? "_" : "") + char.ToUpperInvariant(letter))) == c["constant"], "another name");
            Expect(error.Message.Length > 8 && error.Message != RnnpackException.Describe((Status)(-1000)), "no text");
        },
        ["stream"] = c =>
        {
            float[] want = Floats(c["output"]);
            using (Session session = Open(c["blob"]))
            {
                float[] y = Stream(session, Floats(c["input"]), 0, want.Length);
                Same(y, want);
                string line = LineOf(Bytes(c["labels"]), y);
                Expect(line == File.ReadAllText(Path.Combine(folder, c["line"])), "another line");
                Console.WriteLine(line);
            }
        },
        ["golden"] = c =>
        {
            int steps = int.Parse(c["steps"]), batch = int.Parse(c["batch"]);
            using (var model = new Model(Bytes(c["blob"]), true))
            {
                if (model.FixedBatch != 0) batch = model.FixedBatch;
                using (var session = new Session(model, Reference(batch, steps)))
                {
                    Array[] y = Tensors(model.Outputs, steps, batch, false);
                    session.Run(steps, batch, Tensors(model.Inputs, steps, batch, true), y);
                    Same(y.SelectMany(each => (float[])each).ToArray(), Floats(c["output"]));
                }
            }
        },
        ["threads"] = c =>
        {
            float[] want = Floats(c["output"]), input = Floats(c["input"]);
            var got = new float[int.Parse(c["count"])][];
            using (var model = new Model(Bytes(c["blob"])))
            {
                Thread[] threads = got.Select((_, i) => new Thread(() => { using (var session = new Session(model, Reference())) got[i] = Stream(session, input, 0, want.Length); })).ToArray();
                foreach (Thread thread in threads) thread.Start();
                foreach (Thread thread in threads) thread.Join();
            }
            foreach (float[] each in got) Same(each, want);
        },
        ["state"] = c =>
        {
            float[] input = Floats(c["input"]), want = Floats(c["output"]);
            byte[] saved = Bytes(c["state"]);
            int at = int.Parse(c["at"]);
            using (Session loaded = Open(c["blob"]), streamed = Open(c["blob"]))
            {
                loaded.LoadState(saved);
                Same(Stream(loaded, input, at, want.Length), want.Skip(at).ToArray());
                Stream(streamed, input, 0, at);
                Expect(streamed.SaveState().SequenceEqual(saved), "saves other bytes");
            }
        },
        ["load"] = c =>
        {
            using (Session session = Open(c["blob"]))
            {
                Fails(c["status"], () => session.LoadState(Bytes(c["state"])));
                Same(Stream(session, Floats(c["input"]), 0, 10), Floats(c["output"]).Take(10).ToArray());
            }
        },
        ["open"] = c => Fails(c["status"], () => new Model(Bytes(c["blob"]), true)),
        ["session"] = c => Fails(c["status"], () => Open(c["blob"], int.Parse(c["max_batch"]), int.Parse(c["max_steps"]))),
        ["run"] = c =>
        {
            int steps = int.Parse(c["steps"]), batch = int.Parse(c["batch"]);
            using (Session session = Open(c["blob"], int.Parse(c["max_batch"]), steps))
            {
                Model model = session.Model;
                Fails(c["status"], () => session.Run(steps, batch, Tensors(model.Inputs, steps, batch, true, c["spoil"]), Tensors(model.Outputs, steps, batch, false), uint.Parse(c["flags"])));
            }
        },
        ["growth"] = c =>
        {
            int count = int.Parse(c["count"]);
            byte[] blob = Bytes(c["blob"]);
            float[] x = new float[256], y = new float[1];
            long before = 0;
            // The collector's nursery becomes resident once, as garbage fills it.
            for (int i = 0; i < 20000; ++i) GC.KeepAlive(new byte[1000]);
            for (int i = 0; i < count; ++i)
            {
                using (var model = new Model(blob, true))
                using (var session = new Session(model, Reference())) session.Step(x, y);
                if (i == count / 10) before = Resident();
            }
            long grown = Resident() - before;
            Expect(grown <= 1024, "grew by " + grown + " KiB");
        },
        ["misuse"] = c =>
        {
            float[] x = Floats(c["input"]).Take(256).ToArray(), y = new float[1];
            using (var model = new Model(Bytes(c["blob"])))
            using (var session = new Session(model, Reference())) Misuse[c["what"]](model, session, x, y);
        },
        ["compile"] = c =>
        {
            Action compile = () =>
            {
                Compiled made = Compiler.Compile(Bytes(c["onnx"]), c["option"] == "-" ? new string[0] : new[] { c["option"] });
                Expect(made.Blob.SequenceEqual(Bytes(c["blob"])), "another blob");
            };
            if (c["status"] == "0") compile();
            else
            {
                var error = Throws<CompileException>(compile);
                Expect((int)error.Status == int.Parse(c["status"]) && error.Message.Length > 8, "gives " + error.Status + ": " + error.Message);
            }
        },
        ["overhead"] = c =>
        {
            using (var model = new Model(Bytes(c["blob"])))
            using (var session = new Session(model))
            {
                var x = new float[model.Inputs[0].RowElems];
                var y = new float[model.Outputs[0].RowElems];
                double least = 1e9;
                for (int piece = 0; piece < int.Parse(c["count"]) / 1000; ++piece)
                {
                    long start = Stopwatch.GetTimestamp();
                    for (int i = 0; i < 1000; ++i) session.Step(x, y);
                    least = Math.Min(least, (Stopwatch.GetTimestamp() - start) * 1e9 / Stopwatch.Frequency / 1000);
                }
                Console.WriteLine("overhead " + least.ToString("F1"));
                least = 1e9;
                for (int piece = 0; piece < 1000; ++piece)
                {
                    long start = Stopwatch.GetTimestamp();
                    for (int i = 0; i < 1000; ++i) rnnp_version();
                    least = Math.Min(least, (Stopwatch.GetTimestamp() - start) * 1e9 / Stopwatch.Frequency / 1000);
                }
                Console.WriteLine("empty " + least.ToString("F1"));
            }
        },
    };

    // What a call costs at least (bindings/overhead.py).
    [DllImport("rnnpack", CallingConvention = CallingConvention.Cdecl)]
    private static extern uint rnnp_version();

    private static readonly Dictionary<string, Action<Model, Session, float[], float[]>> Misuse = new Dictionary<string, Action<Model, Session, float[], float[]>>
    {
        ["closed_session"] = (model, session, x, y) =>
        {
            session.Dispose();
            session.Dispose();
            Throws<ObjectDisposedException>(() => session.Step(x, y));
            Throws<ObjectDisposedException>(() => session.SaveState());
            Throws<ObjectDisposedException>(() => session.Reset());
        },
        ["closed_model"] = (model, session, x, y) =>
        {
            model.Dispose();
            Throws<ObjectDisposedException>(() => new Session(model));
            Throws<ObjectDisposedException>(() => model.Meta("name"));
            session.Step(x, y);
        },
        ["short_input"] = (model, session, x, y) =>
        {
            Fails("-12", () => session.Step(new ReadOnlySpan<float>(x, 0, 255), y));
            Fails("-12", () => session.Step(new float[255], new float[1]));
            session.Step(x, y);
        },
        ["short_output"] = (model, session, x, y) =>
        {
            Fails("-12", () => session.Step(x, new Span<float>()));
            session.Step(x, y);
        },
        ["two_threads"] = (model, session, x, y) =>
        {
            int refused = 0, other = 0;
            var long1 = new float[256 * 4000];
            Thread[] threads = Enumerable.Range(0, 2).Select(_ => new Thread(() =>
            {
                var out1 = new float[4000];
                for (int i = 0; i < 40 && Volatile.Read(ref refused) == 0; ++i)
                {
                    try { session.Run(4000, long1, out1); }
                    catch (InvalidOperationException) { Interlocked.Increment(ref refused); }
                    catch (Exception) { Interlocked.Increment(ref other); }
                }
            })).ToArray();
            foreach (Thread thread in threads) thread.Start();
            foreach (Thread thread in threads) thread.Join();
            Expect(refused > 0 && other == 0, "the second thread is not refused");
            session.Step(x, y);
        },
    };

    private static long Resident() => long.Parse(File.ReadLines("/proc/self/status").First(line => line.StartsWith("VmRSS:")).Split(new[] { ' ', '\t' }, StringSplitOptions.RemoveEmptyEntries)[1]);

    private static int Main(string[] args)
    {
        folder = args[0];
        Type mono = Type.GetType("Mono.Runtime");
        var name = mono?.GetMethod("GetDisplayName", System.Reflection.BindingFlags.NonPublic | System.Reflection.BindingFlags.Static);
        Console.WriteLine("version " + (name != null ? "mono " + name.Invoke(null, null) : RuntimeInformation.FrameworkDescription));
        int failures = 0;
        foreach (string text in File.ReadLines(Path.Combine(folder, "suite.txt")))
        {
            string[] words = text.Split(' ');
            try
            {
                Kinds[words[0]](words.Skip(2).Select(word => word.Split(new[] { '=' }, 2)).ToDictionary(pair => pair[0], pair => pair[1]));
                Console.WriteLine("ok " + words[1]);
            }
            catch (Exception error)
            {
                ++failures;
                Console.WriteLine("FAILED " + words[1] + ": " + error.GetType().Name + " " + error.Message.Split('\n')[0]);
            }
        }
        return failures == 0 ? 0 : 1;
    }
}
