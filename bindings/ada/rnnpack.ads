--  Made by scripts/abi/generate.py from include/rnnpack/rnnpack.abi.json: do not edit.
--  SPDX-License-Identifier: Apache-2.0
--  The C ABI as it is: rnnpack/rnnpack.h has the rules. Rnnpack.Nets is the safe form.
with Ada.Exceptions;
with Interfaces.C.Strings;
with System;
use type Interfaces.Integer_32;

package Rnnpack is
   pragma Assertion_Policy (Check);
   subtype rnnp_status is Interfaces.Integer_32;

   RNNP_OK : constant rnnp_status := 0;
   RNNP_E_ARG : constant rnnp_status := -1;
   RNNP_E_ALIGN : constant rnnp_status := -2;
   RNNP_E_SMALL_MEMORY : constant rnnp_status := -3;
   RNNP_E_BLOB_MAGIC : constant rnnp_status := -4;
   RNNP_E_BLOB_VERSION : constant rnnp_status := -5;
   RNNP_E_BLOB_CORRUPT : constant rnnp_status := -6;
   RNNP_E_LAYOUT : constant rnnp_status := -7;
   RNNP_E_ISA : constant rnnp_status := -8;
   RNNP_E_STATE_MISMATCH : constant rnnp_status := -9;
   RNNP_E_NOT_CAUSAL : constant rnnp_status := -10;
   RNNP_E_UNSUPPORTED : constant rnnp_status := -11;
   RNNP_E_SHAPE : constant rnnp_status := -12;
   RNNP_E_ENDIAN : constant rnnp_status := -13;
   RNNP_E_INDEX : constant rnnp_status := -14;
   RNNP_E_INPUTS : constant rnnp_status := -15;
   RNNP_E_DEVICE : constant rnnp_status := -16;
   RNNP_E_TIMEOUT : constant rnnp_status := -17;
   RNNP_E_BUSY : constant rnnp_status := -18;
   RNNP_E_IMAGE_MISMATCH : constant rnnp_status := -19;
   RNNP_E_EXECUTOR : constant rnnp_status := -20;
   RNNP_E_NOT_FINITE : constant rnnp_status := -21;

   RNNP_HEADER_VERSION : constant Interfaces.Unsigned_32 := 10000;
   RNNP_BLOB_ALIGN : constant Interfaces.Unsigned_32 := 64;
   RNNP_OPEN_CHECK_WEIGHTS : constant Interfaces.Unsigned_32 := 1;
   RNNP_MAX_RANK : constant Interfaces.Integer_32 := 8;
   RNNP_DIM_STEPS : constant Interfaces.Integer_32 := -1;
   RNNP_DIM_BATCH : constant Interfaces.Integer_32 := -2;
   RNNP_SPINS_BEFORE_WAIT : constant Interfaces.Unsigned_32 := 4096;
   RNNP_EXECUTOR_TRIES : constant Interfaces.Unsigned_32 := 20000;
   RNNP_MAX_THREADS : constant Interfaces.Unsigned_32 := 1024;
   RNNP_SESSION_PORTABLE_OPS : constant Interfaces.Unsigned_32 := 1;
   RNNP_SESSION_ALL_THREADS : constant Interfaces.Unsigned_32 := 2;
   RNNP_SESSION_ALL_XNNPACK : constant Interfaces.Unsigned_32 := 4;
   RNNP_MAX_BATCH : constant Interfaces.Unsigned_32 := 1048576;
   RNNP_MAX_CHUNK_STEPS : constant Interfaces.Unsigned_32 := 1048576;
   RNNP_MAX_STEPS : constant Interfaces.Unsigned_32 := 268435456;
   RNNP_ISA_AVX2 : constant Interfaces.Unsigned_32 := 1;
   RNNP_ISA_AVX512 : constant Interfaces.Unsigned_32 := 2;
   RNNP_ISA_NEON : constant Interfaces.Unsigned_32 := 4;
   RNNP_ISA_RVV : constant Interfaces.Unsigned_32 := 8;
   RNNP_ISA_SIMD128 : constant Interfaces.Unsigned_32 := 16;
   RNNP_ISA_MVE : constant Interfaces.Unsigned_32 := 32;
   RNNP_ISA_VFPV4 : constant Interfaces.Unsigned_32 := 64;
   RNNP_ISA_RVF : constant Interfaces.Unsigned_32 := 128;
   RNNP_ISA_AVX512_VNNI : constant Interfaces.Unsigned_32 := 256;
   RNNP_ISA_NEON_DOTPROD : constant Interfaces.Unsigned_32 := 512;
   RNNP_ISA_AVX_VNNI : constant Interfaces.Unsigned_32 := 1024;
   RNNP_ISA_NEON_I8MM : constant Interfaces.Unsigned_32 := 2048;
   RNNP_ISA_AMX_INT8 : constant Interfaces.Unsigned_32 := 4096;
   RNNP_ISA_AVX512_BF16 : constant Interfaces.Unsigned_32 := 8192;
   RNNP_ISA_AMX_BF16 : constant Interfaces.Unsigned_32 := 16384;
   RNNP_ISA_NEON_BF16 : constant Interfaces.Unsigned_32 := 32768;
   RNNP_ISA_REFERENCE_ONLY : constant Interfaces.Unsigned_32 := 2147483648;
   RNNP_CACHE_NONE : constant Interfaces.Unsigned_32 := 4294967295;
   RNNP_NO_NODE : constant Interfaces.Unsigned_32 := 4294967295;
   RNNP_RUN_LAST_STEP : constant Interfaces.Unsigned_32 := 1;
   RNNP_RUN_CHECK_FINITE : constant Interfaces.Unsigned_32 := 2;
   RNNP_ALL_ROWS : constant Interfaces.Unsigned_32 := 4294967295;
   RNNP_ROLE_SEQUENCE : constant Interfaces.Unsigned_32 := 0;
   RNNP_ROLE_PER_RUN : constant Interfaces.Unsigned_32 := 1;
   RNNP_ROLE_STATE : constant Interfaces.Unsigned_32 := 2;
   RNNP_ROLE_LENGTHS : constant Interfaces.Unsigned_32 := 3;
   RNNP_DTYPE_F32 : constant Interfaces.Unsigned_32 := 0;
   RNNP_DTYPE_I32 : constant Interfaces.Unsigned_32 := 1;

   --  a NULL, zero or out-of-range argument, or a struct_bytes this library does not know
   Arg_Error : exception;
   --  blob or memory is not aligned as asked for
   Align_Error : exception;
   --  fewer bytes than rnnp_memory says, or a size that does not fit this machine
   Small_Memory_Error : exception;
   --  not a rnnpack blob
   Blob_Magic_Error : exception;
   --  a blob of another format version than this library opens
   Blob_Version_Error : exception;
   --  truncated, bad checksum, or an offset or size that does not fit
   Blob_Corrupt_Error : exception;
   --  the blob's weight layout has no kernel in this build
   Layout_Error : exception;
   --  there are kernels for the blob's weight layout, but isa_allowed and this CPU leave none of them
   Isa_Error : exception;
   --  saved state is of another model, or damaged
   State_Mismatch_Error : exception;
   --  not causal (a reverse layer or look-ahead): set max_steps and run whole sequences
   Not_Causal_Error : exception;
   --  an operator of the blob is not in this build
   Unsupported_Error : exception;
   --  steps, batch, lengths or tensor counts do not fit the model or the session
   Shape_Error : exception;
   --  this CPU is big-endian; blobs are little-endian
   Endian_Error : exception;
   --  an index is outside its table: see rnnp_tensor_info.limit
   Index_Error : exception;
   --  rnnp_run and rnnp_step give one sequence; the model needs another or more: use rnnp_run_io
   Inputs_Error : exception;
   --  rnnpack/cuda.h: no GPU, no driver, a GPU that is too old, or a call to it that failed
   Device_Error : exception;
   --  rnnpack/cuda.h: a run did not get on; states are undefined until they are reset or loaded
   Timeout_Error : exception;
   --  rnnpack/cuda.h: the grid does not fit the GPU as it is now, or another stream uses the session
   Busy_Error : exception;
   --  rnnpack/cuda.h: the image is of another model, of other options, or damaged
   Image_Mismatch_Error : exception;
   --  the executor ran fewer tasks at the same time than executor.threads: see rnnp_executor
   Executor_Error : exception;
   --  RNNP_RUN_CHECK_FINITE: an input holds NaN or infinity
   Not_Finite_Error : exception;

   --  The exception of status -N.
   Exceptions : constant array (rnnp_status range 1 .. 21) of Ada.Exceptions.Exception_Id :=
     (Arg_Error'Identity,
      Align_Error'Identity,
      Small_Memory_Error'Identity,
      Blob_Magic_Error'Identity,
      Blob_Version_Error'Identity,
      Blob_Corrupt_Error'Identity,
      Layout_Error'Identity,
      Isa_Error'Identity,
      State_Mismatch_Error'Identity,
      Not_Causal_Error'Identity,
      Unsupported_Error'Identity,
      Shape_Error'Identity,
      Endian_Error'Identity,
      Index_Error'Identity,
      Inputs_Error'Identity,
      Device_Error'Identity,
      Timeout_Error'Identity,
      Busy_Error'Identity,
      Image_Mismatch_Error'Identity,
      Executor_Error'Identity,
      Not_Finite_Error'Identity);

   --  What struct_bytes are.
   Model_Bytes : constant Interfaces.Unsigned_32 := 256;
   ModelInfo_Bytes : constant Interfaces.Unsigned_32 := 88;
   TensorInfo_Bytes : constant Interfaces.Unsigned_32 := (if System.Address'Size = 64 then 64 else 60);
   Executor_Bytes : constant Interfaces.Unsigned_32 := (if System.Address'Size = 64 then 32 else 20);
   SessionOptions_Bytes : constant Interfaces.Unsigned_32 := (if System.Address'Size = 64 then 48 else 40);
   Memory_Bytes : constant Interfaces.Unsigned_32 := (if System.Address'Size = 64 then 24 else 16);
   Refusal_Bytes : constant Interfaces.Unsigned_32 := (if System.Address'Size = 64 then 48 else 40);
   SessionInfo_Bytes : constant Interfaces.Unsigned_32 := 36;
   ConstBuffer_Bytes : constant Interfaces.Unsigned_32 := (if System.Address'Size = 64 then 24 else 12);
   Buffer_Bytes : constant Interfaces.Unsigned_32 := (if System.Address'Size = 64 then 24 else 12);
   Io_Bytes : constant Interfaces.Unsigned_32 := (if System.Address'Size = 64 then 64 else 44);

   type Model_opaque is array (0 .. 31) of aliased Interfaces.Unsigned_64 with Convention => C;
   type rnnp_model is record
      opaque : aliased Model_opaque;
   end record with Convention => C;

   type rnnp_model_info is record
      struct_bytes : aliased Interfaces.Unsigned_32 := ModelInfo_Bytes;
      blob_version : aliased Interfaces.Unsigned_32 := 0;
      blob_align : aliased Interfaces.Unsigned_32 := 0;
      input_count : aliased Interfaces.Unsigned_32 := 0;
      output_count : aliased Interfaces.Unsigned_32 := 0;
      node_count : aliased Interfaces.Unsigned_32 := 0;
      recurrent_count : aliased Interfaces.Unsigned_32 := 0;
      causal : aliased Interfaces.Unsigned_32 := 0;
      fixed_batch : aliased Interfaces.Unsigned_32 := 0;
      layout_nr : aliased Interfaces.Unsigned_32 := 0;
      stream_steps : aliased Interfaces.Unsigned_32 := 0;
      in_place : aliased Interfaces.Unsigned_32 := 0;
      blob_bytes : aliased Interfaces.Unsigned_64 := 0;
      weight_bytes : aliased Interfaces.Unsigned_64 := 0;
      state_bytes_per_row : aliased Interfaces.Unsigned_64 := 0;
      model_id : aliased Interfaces.Unsigned_64 := 0;
      macs_per_step : aliased Interfaces.Unsigned_64 := 0;
   end record with Convention => C;

   type TensorInfo_dims is array (0 .. 7) of aliased Interfaces.Integer_32 with Convention => C;
   type rnnp_tensor_info is record
      struct_bytes : aliased Interfaces.Unsigned_32 := TensorInfo_Bytes;
      role : aliased Interfaces.Unsigned_32 := 0;
      row_elems : aliased Interfaces.Unsigned_32 := 0;
      rank : aliased Interfaces.Unsigned_32 := 0;
      dims : aliased TensorInfo_dims;
      name : aliased Interfaces.C.Strings.chars_ptr := Interfaces.C.Strings.Null_Ptr;
      dtype : aliased Interfaces.Unsigned_32 := 0;
      limit : aliased Interfaces.Unsigned_32 := 0;
   end record with Convention => C;

   type rnnp_executor is record
      struct_bytes : aliased Interfaces.Unsigned_32 := Executor_Bytes;
      threads : aliased Interfaces.Unsigned_32 := 1;
      ctx : aliased System.Address := System.Null_Address;
      run_parallel : aliased System.Address := System.Null_Address;
      wait : aliased System.Address := System.Null_Address;
   end record with Convention => C;

   type rnnp_session_options is record
      struct_bytes : aliased Interfaces.Unsigned_32 := SessionOptions_Bytes;
      max_batch : aliased Interfaces.Unsigned_32 := 1;
      max_steps : aliased Interfaces.Unsigned_32 := 0;
      chunk_steps : aliased Interfaces.Unsigned_32 := 0;
      isa_allowed : aliased Interfaces.Unsigned_32 := 0;
      flags : aliased Interfaces.Unsigned_32 := 0;
      l1d_bytes : aliased Interfaces.Unsigned_32 := 0;
      l2_bytes : aliased Interfaces.Unsigned_32 := 0;
      l3_bytes : aliased Interfaces.Unsigned_32 := 0;
      executor : aliased System.Address := System.Null_Address;
   end record with Convention => C;

   type rnnp_memory is record
      struct_bytes : aliased Interfaces.Unsigned_32 := Memory_Bytes;
      alignment : aliased Interfaces.Unsigned_32 := 0;
      session_bytes : aliased Interfaces.C.size_t := 0;
      state_bytes : aliased Interfaces.C.size_t := 0;
   end record with Convention => C;

   type rnnp_refusal is record
      struct_bytes : aliased Interfaces.Unsigned_32 := Refusal_Bytes;
      status : aliased rnnp_status := 0;
      node : aliased Interfaces.Unsigned_32 := 0;
      reserved : aliased Interfaces.Unsigned_32 := 0;
      needed : aliased Interfaces.Unsigned_64 := 0;
      node_name : aliased Interfaces.C.Strings.chars_ptr := Interfaces.C.Strings.Null_Ptr;
      op : aliased Interfaces.C.Strings.chars_ptr := Interfaces.C.Strings.Null_Ptr;
      reason : aliased Interfaces.C.Strings.chars_ptr := Interfaces.C.Strings.Null_Ptr;
   end record with Convention => C;

   type rnnp_session_info is record
      struct_bytes : aliased Interfaces.Unsigned_32 := SessionInfo_Bytes;
      max_batch : aliased Interfaces.Unsigned_32 := 0;
      chunk_steps : aliased Interfaces.Unsigned_32 := 0;
      threads : aliased Interfaces.Unsigned_32 := 0;
      isa : aliased Interfaces.Unsigned_32 := 0;
      xnnpack : aliased Interfaces.Unsigned_32 := 0;
      xnnpack_refused : aliased Interfaces.Unsigned_32 := 0;
      wavefront_stages : aliased Interfaces.Unsigned_32 := 0;
      wavefront_steps : aliased Interfaces.Unsigned_32 := 0;
   end record with Convention => C;

   type rnnp_const_buffer is record
      data : aliased System.Address := System.Null_Address;
      step_stride_bytes : aliased Interfaces.C.size_t := 0;
      row_stride_bytes : aliased Interfaces.C.size_t := 0;
   end record with Convention => C;

   type rnnp_buffer is record
      data : aliased System.Address := System.Null_Address;
      step_stride_bytes : aliased Interfaces.C.size_t := 0;
      row_stride_bytes : aliased Interfaces.C.size_t := 0;
   end record with Convention => C;

   type rnnp_io is record
      struct_bytes : aliased Interfaces.Unsigned_32 := Io_Bytes;
      buffer_bytes : aliased Interfaces.Unsigned_32 := ConstBuffer_Bytes;
      flags : aliased Interfaces.Unsigned_32 := 0;
      batch : aliased Interfaces.Unsigned_32 := 0;
      steps : aliased Interfaces.C.size_t := 0;
      input_count : aliased Interfaces.Unsigned_32 := 0;
      output_count : aliased Interfaces.Unsigned_32 := 0;
      lengths : aliased System.Address := System.Null_Address;
      inputs : aliased System.Address := System.Null_Address;
      outputs : aliased System.Address := System.Null_Address;
      rows : aliased System.Address := System.Null_Address;
   end record with Convention => C;

   function rnnp_version return Interfaces.Unsigned_32 with Import, Convention => C, External_Name => "rnnp_version";
   function rnnp_blob_version_min return Interfaces.Unsigned_32 with Import, Convention => C, External_Name => "rnnp_blob_version_min";
   function rnnp_blob_version_max return Interfaces.Unsigned_32 with Import, Convention => C, External_Name => "rnnp_blob_version_max";
   function rnnp_status_string (status : rnnp_status) return Interfaces.C.Strings.chars_ptr with Import, Convention => C, External_Name => "rnnp_status_string";
   function rnnp_model_open (model : access rnnp_model; blob : System.Address; bytes : Interfaces.C.size_t; flags : Interfaces.Unsigned_32) return rnnp_status with Import, Convention => C, External_Name => "rnnp_model_open";
   function rnnp_model_get_info (model : access constant rnnp_model; facts : access rnnp_model_info) return rnnp_status with Import, Convention => C, External_Name => "rnnp_model_get_info";
   function rnnp_model_get_input (model : access constant rnnp_model; index : Interfaces.Unsigned_32; facts : access rnnp_tensor_info) return rnnp_status with Import, Convention => C, External_Name => "rnnp_model_get_input";
   function rnnp_model_get_output (model : access constant rnnp_model; index : Interfaces.Unsigned_32; facts : access rnnp_tensor_info) return rnnp_status with Import, Convention => C, External_Name => "rnnp_model_get_output";
   function rnnp_model_find_input (model : access constant rnnp_model; name : Interfaces.C.Strings.chars_ptr; index : System.Address) return rnnp_status with Import, Convention => C, External_Name => "rnnp_model_find_input";
   function rnnp_model_find_output (model : access constant rnnp_model; name : Interfaces.C.Strings.chars_ptr; index : System.Address) return rnnp_status with Import, Convention => C, External_Name => "rnnp_model_find_output";
   function rnnp_model_meta (model : access constant rnnp_model; key : Interfaces.C.Strings.chars_ptr) return Interfaces.C.Strings.chars_ptr with Import, Convention => C, External_Name => "rnnp_model_meta";
   function rnnp_model_get_meta (model : access constant rnnp_model; index : Interfaces.Unsigned_32; key : System.Address; value : System.Address) return rnnp_status with Import, Convention => C, External_Name => "rnnp_model_get_meta";
   function rnnp_isa_name (bit : Interfaces.Unsigned_32) return Interfaces.C.Strings.chars_ptr with Import, Convention => C, External_Name => "rnnp_isa_name";
   procedure rnnp_session_options_init (options : access rnnp_session_options; struct_bytes : Interfaces.C.size_t) with Import, Convention => C, External_Name => "rnnp_session_options_init";
   function rnnp_session_memory (model : access constant rnnp_model; options : access constant rnnp_session_options; memory : access rnnp_memory) return rnnp_status with Import, Convention => C, External_Name => "rnnp_session_memory";
   function rnnp_session_init (session : System.Address; model : access constant rnnp_model; options : access constant rnnp_session_options; mem : System.Address; bytes : Interfaces.C.size_t) return rnnp_status with Import, Convention => C, External_Name => "rnnp_session_init";
   function rnnp_session_explain (model : access constant rnnp_model; options : access constant rnnp_session_options; scratch : System.Address; bytes : Interfaces.C.size_t; refusal : access rnnp_refusal) return rnnp_status with Import, Convention => C, External_Name => "rnnp_session_explain";
   function rnnp_session_get_info (session : System.Address; facts : access rnnp_session_info) return rnnp_status with Import, Convention => C, External_Name => "rnnp_session_get_info";
   function rnnp_run (session : System.Address; steps : Interfaces.C.size_t; x : System.Address; y : System.Address) return rnnp_status with Import, Convention => C, External_Name => "rnnp_run";
   function rnnp_step (session : System.Address; x : System.Address; y : System.Address) return rnnp_status with Import, Convention => C, External_Name => "rnnp_step";
   function rnnp_run_io (session : System.Address; io : access constant rnnp_io) return rnnp_status with Import, Convention => C, External_Name => "rnnp_run_io";
   function rnnp_session_last_error (session : System.Address) return Interfaces.C.Strings.chars_ptr with Import, Convention => C, External_Name => "rnnp_session_last_error";
   function rnnp_state_reset (session : System.Address; row : Interfaces.Unsigned_32) return rnnp_status with Import, Convention => C, External_Name => "rnnp_state_reset";
   function rnnp_state_save (session : System.Address; row : Interfaces.Unsigned_32; dst : System.Address; bytes : Interfaces.C.size_t) return rnnp_status with Import, Convention => C, External_Name => "rnnp_state_save";
   function rnnp_state_load (session : System.Address; row : Interfaces.Unsigned_32; src : System.Address; bytes : Interfaces.C.size_t) return rnnp_status with Import, Convention => C, External_Name => "rnnp_state_load";
   function rnnp_threads_start (executor : access rnnp_executor; threads : Interfaces.Unsigned_32; cpu_ids : System.Address; mem : System.Address; bytes : Interfaces.C.size_t) return rnnp_status with Import, Convention => C, External_Name => "rnnp_threads_start";
   procedure rnnp_threads_stop (executor : access rnnp_executor) with Import, Convention => C, External_Name => "rnnp_threads_stop";

   --  Checked when the package is elaborated.
   Sizes_Are_Right : constant Boolean :=
     rnnp_model'Object_Size / 8 = Integer (Model_Bytes)
     and then rnnp_model_info'Object_Size / 8 = Integer (ModelInfo_Bytes)
     and then rnnp_tensor_info'Object_Size / 8 = Integer (TensorInfo_Bytes)
     and then rnnp_executor'Object_Size / 8 = Integer (Executor_Bytes)
     and then rnnp_session_options'Object_Size / 8 = Integer (SessionOptions_Bytes)
     and then rnnp_memory'Object_Size / 8 = Integer (Memory_Bytes)
     and then rnnp_refusal'Object_Size / 8 = Integer (Refusal_Bytes)
     and then rnnp_session_info'Object_Size / 8 = Integer (SessionInfo_Bytes)
     and then rnnp_const_buffer'Object_Size / 8 = Integer (ConstBuffer_Bytes)
     and then rnnp_buffer'Object_Size / 8 = Integer (Buffer_Bytes)
     and then rnnp_io'Object_Size / 8 = Integer (Io_Bytes);
   pragma Assert (Sizes_Are_Right);
end Rnnpack;
