// rnnpack.d.ts -- the types of the package. SPDX-License-Identifier: Apache-2.0

/** What a model takes or gives. */
export interface TensorInfo {
  readonly name: string;
  readonly role: 'sequence' | 'perRun' | 'state' | 'lengths';
  /** Features of one row. */
  readonly rowElems: number;
  /** The ONNX axes in ONNX order. */
  readonly dims: ReadonlyArray<number | 'steps' | 'batch'>;
  readonly dtype: 'f32' | 'i32';
  /** Of i32 sequences: indices from -limit to limit - 1; else 0. */
  readonly limit: number;
}

export interface ModelInfo {
  readonly blobVersion: number;
  readonly inputCount: number;
  readonly outputCount: number;
  readonly nodeCount: number;
  readonly recurrentCount: number;
  /** Runs in pieces of any length, step by step too. */
  readonly causal: boolean;
  /** 0, or the only batch the model was exported for. */
  readonly fixedBatch: number;
  readonly layoutNr: number;
  readonly streamSteps: number;
  readonly inPlace: boolean;
  readonly blobBytes: number;
  readonly weightBytes: number;
  readonly stateBytesPerRow: number;
  readonly modelId: bigint;
  readonly macsPerStep: number;
}

export interface SessionOptions {
  /** Rows: streams of their own. Default 1, or the model's fixed batch. */
  maxBatch?: number;
  /** Steps of the longest run; input() and output() have room for as many. Default 1. */
  maxSteps?: number;
  /** 0, the default: chosen by the sizes of weights. */
  chunkSteps?: number;
  /** 'reference': the same bits on every CPU and in every language. */
  isa?: 'all' | 'reference';
}

export interface RunOptions {
  /** Rows that run: 0 to batch - 1, or those of `rows`. */
  batch?: number;
  rows?: ArrayLike<number>;
  /** Valid steps of each row. */
  lengths?: ArrayLike<number>;
  /** Sequence outputs get each row's last step only. */
  lastStep?: boolean;
  /** Refuse NaN and infinity: RNNP_E_NOT_FINITE. */
  checkFinite?: boolean;
}

export type Bytes = ArrayBuffer | ArrayBufferView;
export type StatusName =
  | 'RNNP_E_ARG' | 'RNNP_E_ALIGN' | 'RNNP_E_SMALL_MEMORY' | 'RNNP_E_BLOB_MAGIC' | 'RNNP_E_BLOB_VERSION' | 'RNNP_E_BLOB_CORRUPT'
  | 'RNNP_E_LAYOUT' | 'RNNP_E_ISA' | 'RNNP_E_STATE_MISMATCH' | 'RNNP_E_NOT_CAUSAL' | 'RNNP_E_UNSUPPORTED' | 'RNNP_E_SHAPE'
  | 'RNNP_E_ENDIAN' | 'RNNP_E_INDEX' | 'RNNP_E_INPUTS' | 'RNNP_E_DEVICE' | 'RNNP_E_TIMEOUT' | 'RNNP_E_BUSY' | 'RNNP_E_IMAGE_MISMATCH'
  | 'RNNP_E_EXECUTOR' | 'RNNP_E_NOT_FINITE';

export class RnnpackError extends Error {
  readonly status: number;
  readonly code: StatusName;
}
/** A model or session after close(), or a view from before the memory grew. */
export class StaleError extends Error {}
/** One class per status, for instanceof. */
export const errors: Readonly<Record<StatusName, new (message: string) => RnnpackError>>;

export class Rnnpack {
  private constructor();
  /** Whether this engine runs rnnpack.wasm; else rnnpack-scalar.wasm. */
  static hasSimd(): boolean;
  static load(wasm: Bytes | WebAssembly.Module): Promise<Rnnpack>;
  /** At once, for an AudioWorkletProcessor. */
  static loadSync(wasm: Bytes | WebAssembly.Module): Rnnpack;
  /** Checks a blob and copies it into the module's memory. */
  open(blob: Bytes, options?: { checkWeights?: boolean }): Model;
  /** The error of a status, with the library's text. */
  error(status: number): RnnpackError;
  readonly version: string;
  /** Bytes of the module's memory: held by models and sessions, and in all. */
  readonly memory: { taken: number; all: number };
}

export class Model {
  private constructor();
  readonly info: ModelInfo;
  readonly inputs: ReadonlyArray<TensorInfo>;
  readonly outputs: ReadonlyArray<TensorInfo>;
  readonly closed: boolean;
  session(options?: SessionOptions): Session;
  meta(key: string): string | undefined;
  /** Sessions that are open keep what they need. */
  close(): void;
}

export class Session {
  private constructor();
  readonly model: Model;
  readonly maxBatch: number;
  readonly maxSteps: number;
  readonly stateBytes: number;
  readonly closed: boolean;
  readonly info: { maxBatch: number; chunkSteps: number; isa: string };
  /** The tensor's memory: [maxSteps][maxBatch][rowElems], or [maxBatch][rowElems] without a time axis. */
  input(which?: number | string): Float32Array | Int32Array;
  output(which?: number | string): Float32Array | Int32Array;
  /** Give an optional input (role state or lengths) to the runs that follow. */
  provide(which: number | string, on?: boolean): void;
  /** Reads input(), writes output(). Arrays of your own are copied; they have one step's elements. */
  step(x?: ArrayLike<number>, y?: Float32Array): void;
  run(steps: number, options?: RunOptions): void;
  /** To the initial state: one row, or all. */
  reset(row?: number): void;
  saveState(row?: number): Uint8Array;
  loadState(saved: Uint8Array, row?: number): void;
  close(): void;
}

/** Node only: loads the module that this engine runs from the package's folder. */
export function load(options?: { simd?: boolean }): Promise<Rnnpack>;
