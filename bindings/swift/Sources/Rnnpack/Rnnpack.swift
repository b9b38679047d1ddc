// Rnnpack.swift -- a model and its sessions. Untested (README.md). SPDX-License-Identifier: Apache-2.0
import CRnnpack

/// A status of the library.
public struct RnnpackError: Error, CustomStringConvertible {
    public let status: Int32
    public var description: String { String(cString: rnnp_status_string(status)) }
}

func check(_ status: rnnp_status) throws {
    if status != 0 { throw RnnpackError(status: status) }
}

/// An opened blob; sessions keep it.
public final class Model {
    private let blob: UnsafeMutableRawPointer
    fileprivate var raw = rnnp_model()

    public init(_ bytes: UnsafeRawBufferPointer, checkWeights: Bool = false) throws {
        blob = UnsafeMutableRawPointer.allocate(byteCount: max(1, bytes.count), alignment: 64)
        if let from = bytes.baseAddress { blob.copyMemory(from: from, byteCount: bytes.count) }
        do {
            try check(rnnp_model_open(&raw, blob, bytes.count, checkWeights ? 1 : 0))
        } catch {
            blob.deallocate()
            throw error
        }
    }

    deinit { blob.deallocate() }
}

/// Used by one thread at a time.
public final class Session {
    private let model: Model
    private let memory: UnsafeMutableRawPointer
    private var handle: OpaquePointer?
    private let inputs: Int
    private let outputs: Int

    public init(_ model: Model, maxBatch: UInt32 = 1, maxSteps: UInt32 = 0) throws {
        self.model = model
        var options = rnnp_session_options()
        rnnp_session_options_init(&options, MemoryLayout<rnnp_session_options>.size)
        options.max_batch = maxBatch
        options.max_steps = maxSteps
        var need = rnnp_memory()
        need.struct_bytes = UInt32(MemoryLayout<rnnp_memory>.size)
        try check(rnnp_session_memory(&model.raw, &options, &need))
        var facts = rnnp_tensor_info()
        facts.struct_bytes = UInt32(MemoryLayout<rnnp_tensor_info>.size)
        try check(rnnp_model_get_input(&model.raw, 0, &facts))
        inputs = Int(facts.row_elems) * Int(maxBatch)
        try check(rnnp_model_get_output(&model.raw, 0, &facts))
        outputs = Int(facts.row_elems) * Int(maxBatch)
        memory = UnsafeMutableRawPointer.allocate(byteCount: need.session_bytes, alignment: Int(need.alignment))
        do {
            try check(rnnp_session_init(&handle, &model.raw, &options, memory, need.session_bytes))
        } catch {
            memory.deallocate()
            throw error
        }
    }

    deinit { memory.deallocate() }

    /// One step of all rows, in place.
    public func step(_ x: UnsafeBufferPointer<Float>, _ y: UnsafeMutableBufferPointer<Float>) throws {
        guard x.count == inputs, y.count == outputs else { throw RnnpackError(status: -12) }
        try check(rnnp_step(handle, x.baseAddress, y.baseAddress))
    }
}
