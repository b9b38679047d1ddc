--  suite.adb FOLDER -- bindings/suite.json in Ada. SPDX-License-Identifier: Apache-2.0
with Ada.Command_Line;
with Ada.Direct_IO;
with Ada.Directories;
with Ada.Exceptions;
with Ada.Real_Time;
with Ada.Strings.Fixed;
with Ada.Text_IO;
with Interfaces;
with Rnnpack.Nets;

procedure Suite is
   use Ada.Strings.Fixed;
   use Interfaces;
   use Rnnpack;
   use Rnnpack.Nets;

   Failure : exception;
   type Floats_Access is access Floats;
   Reference : constant Unsigned_32 := RNNP_ISA_REFERENCE_ONLY;
   Line : String (1 .. 2000);
   Length : Natural := 0;

   procedure Expect (Right : Boolean; What : String) is
   begin
      if not Right then
         raise Failure with What;
      end if;
   end Expect;

   --  The value of a key of the case's line.
   function Get (Key : String) return String is
      At_Key : constant Natural := Index (Line (1 .. Length) & " ", " " & Key & "=");
      First : constant Positive := At_Key + Key'Length + 2;
   begin
      Expect (At_Key > 0, "no " & Key);
      return Line (First .. Index (Line (1 .. Length) & " ", " ", First) - 1);
   end Get;

   function Number (Key : String) return Integer is (Integer'Value (Get (Key)));
   function Path (Name : String) return String is (Ada.Command_Line.Argument (1) & "/" & Name);

   function Content (Name : String) return Bytes is
      subtype Whole is Bytes (1 .. Natural (Ada.Directories.Size (Path (Name))));
      package IO is new Ada.Direct_IO (Whole);
      File : IO.File_Type;
   begin
      return All_Of_It : Whole do
         if Whole'Length > 0 then
            IO.Open (File, IO.In_File, Path (Name));
            IO.Read (File, All_Of_It);
            IO.Close (File);
         end if;
      end return;
   end Content;

   function Numbers (Name : String) return Floats_Access is
      Size : constant Natural := Natural (Ada.Directories.Size (Path (Name)));
      subtype Whole is Floats (1 .. Size / 4);
      package IO is new Ada.Direct_IO (Whole);
      File : IO.File_Type;
   begin
      return All_Of_It : constant Floats_Access := new Whole do
         IO.Open (File, IO.In_File, Path (Name));
         IO.Read (File, Whole (All_Of_It.all));
         IO.Close (File);
      end return;
   end Numbers;

   function Same (A, B : Floats) return Boolean is
      type Words is array (Positive range <>) of Unsigned_32;
      Left : Words (1 .. A'Length) with Import, Address => A'Address;
      Right : Words (1 .. B'Length) with Import, Address => B'Address;
   begin
      return Left = Right;
   end Same;

   procedure Open (Self : in out Model) is
   begin
      Self.Open_File (Path (Get ("blob")), Check_Weights => True);
   end Open;

   procedure Stream (Net : in out Session; X : Floats; From, To : Natural; Y : out Floats) is
      Width : constant Positive := X'Length / 878;
   begin
      for I in From .. To - 1 loop
         Net.Step (X (I * Width + 1 .. (I + 1) * Width), Y (Y'First + I - From .. Y'First + I - From));
      end loop;
   end Stream;

   --  Whether a status is this exception.
   function Is_Status (Error : Ada.Exceptions.Exception_Occurrence; Status : Integer) return Boolean is
      use type Ada.Exceptions.Exception_Id;
   begin
      return Ada.Exceptions.Exception_Identity (Error) = Exceptions (rnnp_status (-Status));
   end Is_Status;

   --  --- Inputs and outputs of any model ----------------------------------------------------------------------------------

   type Integers_Access is access Integers;
   type Tensors is record
      Y : Floats_Access;
      Inputs, Outputs : Views (1 .. 8) := (others => Nothing);
      Input_Count, Output_Count : Natural := 0;
   end record;

   function Make_Tensors (Blob : Model; Steps, Batch : Natural; Spoil : String) return Tensors is
      Facts : constant rnnp_model_info := Blob.Info;
      State : Unsigned_32 := 1;
      Sum : Natural := 0;

      function Next return Unsigned_32 is
      begin
         State := State * 1_664_525 + 1_013_904_223;
         return Shift_Right (State, 16);
      end Next;

      function Fill (One : rnnp_tensor_info; First : Boolean) return View is
         Count : constant Natural := Elems (One, Steps, Batch);
      begin
         if One.role > RNNP_ROLE_PER_RUN then
            return Nothing;
         elsif One.dtype = RNNP_DTYPE_I32 then
            declare
               Data : constant Integers_Access := new Integers (1 .. Count);
            begin
               for Each of Data.all loop
                  Each := Integer_32 (Next mod One.limit);
               end loop;
               if First and then Spoil = "index" then
                  Data (1) := Integer_32 (One.limit);
               end if;
               return View_Of (Data.all);
            end;
         end if;
         declare
            Data : constant Floats_Access := new Floats (1 .. Count);
         begin
            for Each of Data.all loop
               Each := IEEE_Float_32 (Next) / 32_768.0 - 1.0;
            end loop;
            if First and then Spoil = "nan" then
               declare
                  First_Word : Unsigned_32 with Import, Address => Data (1)'Address;
               begin
                  First_Word := 16#7FC0_0000#;
               end;
            end if;
            return View_Of (Data.all);
         end;
      end Fill;

   begin
      return Made : Tensors do
         Made.Input_Count := Natural (Facts.input_count);
         Made.Output_Count := Natural (Facts.output_count);
         for I in 1 .. Made.Input_Count loop
            Made.Inputs (I) := Fill (Blob.Tensor (Input, I), I = 1);
         end loop;
         for I in 1 .. Made.Output_Count loop
            Sum := Sum + Elems (Blob.Tensor (Output, I), Steps, Batch);
         end loop;
         Made.Y := new Floats (1 .. Sum);
         Sum := 0;
         for I in 1 .. Made.Output_Count loop
            declare
               Count : constant Natural := Elems (Blob.Tensor (Output, I), Steps, Batch);
            begin
               Made.Outputs (I) := View_Of (Made.Y (Sum + 1 .. Sum + Count));
               Sum := Sum + Count;
            end;
         end loop;
      end return;
   end Make_Tensors;

   procedure Run (Net : in out Session; Steps, Batch : Natural; All_Of_Them : Tensors; Flags : Unsigned_32 := 0) is
   begin
      Net.Run_Any (Steps, Batch, All_Of_Them.Inputs (1 .. All_Of_Them.Input_Count), All_Of_Them.Outputs (1 .. All_Of_Them.Output_Count), Flags);
   end Run;

   --  --- The kinds of cases -----------------------------------------------------------------------------------------------

   procedure Status_Case is
      Code : constant Integer := Number ("code");
      --  RNNP_E_SMALL_MEMORY is RNNPACK.SMALL_MEMORY_ERROR.
      Constant_Name : constant String := Get ("constant");
      Wanted : constant String := "RNNPACK." & Constant_Name (Constant_Name'First + 7 .. Constant_Name'Last) & "_ERROR";
   begin
      Check (rnnp_status (Code));
      Expect (False, "raises nothing");
   exception
      when Error : others =>
         Expect (Is_Status (Error, Code) and then Ada.Exceptions.Exception_Name (Error) = Wanted, "raises " & Ada.Exceptions.Exception_Name (Error));
         Expect (Ada.Exceptions.Exception_Message (Error)'Length > 8 and then Text (rnnp_status (Code)) /= Text (-1000), "has no text");
   end Status_Case;

   procedure Stream_Case is
      Want : constant Floats_Access := Numbers (Get ("output"));
      X : constant Floats_Access := Numbers (Get ("input"));
      Labels : constant Bytes := Content (Get ("labels"));
      Said : constant Bytes := Content (Get ("line"));
      Y : Floats (Want'Range);
      Blob : Model;
      Net : Session;
      Found, All_Of_Them : array (Unsigned_8 range 0 .. 2) of Natural := (others => 0);
      function Image (N : Natural) return String is (Trim (N'Image, Ada.Strings.Left));
   begin
      Open (Blob);
      Net.Make (Blob, Isa_Allowed => Reference);
      Stream (Net, X.all, 0, Want'Length, Y);
      Expect (Same (Y, Want.all), "other bits");
      for I in Labels'Range loop
         All_Of_Them (Labels (I)) := All_Of_Them (Labels (I)) + 1;
         if Y (I) >= 0.5 then
            Found (Labels (I)) := Found (Labels (I)) + 1;
         end if;
      end loop;
      declare
         Text : constant String := "loud speech frames found " & Image (Found (1)) & " of " & Image (All_Of_Them (1))
           & ", speech said in the gaps " & Image (Found (2)) & " of " & Image (All_Of_Them (2)) & " frames";
         As_String : String (1 .. Said'Length) with Import, Address => Said'Address;
      begin
         Ada.Text_IO.Put_Line (Text);
         Expect (Text = As_String, "another line");
      end;
   end Stream_Case;

   procedure Golden_Case is
      Steps : constant Natural := Number ("steps");
      Blob : Model;
      Net : Session;
   begin
      Open (Blob);
      declare
         Fixed : constant Natural := Natural (Blob.Info.fixed_batch);
         Batch : constant Positive := (if Fixed > 0 then Fixed else Number ("batch"));
         Made : constant Tensors := Make_Tensors (Blob, Steps, Batch, "no");
      begin
         Net.Make (Blob, Batch, Steps, Reference);
         Run (Net, Steps, Batch, Made);
         Expect (Same (Made.Y.all, Numbers (Get ("output")).all), "other bits");
      end;
   end Golden_Case;

   procedure Threads_Case is
      Want : constant Floats_Access := Numbers (Get ("output"));
      X : constant Floats_Access := Numbers (Get ("input"));
      Blob : Model;
      Right : array (1 .. Number ("count")) of Boolean := (others => False) with Volatile_Components;
      task type Streamer (Index : Positive);
      task body Streamer is
         Net : Session;
         Y : Floats (Want'Range);
      begin
         Net.Make (Blob, Isa_Allowed => Reference);
         Stream (Net, X.all, 0, Want'Length, Y);
         Right (Index) := Same (Y, Want.all);
      end Streamer;
   begin
      Open (Blob);
      declare
         First : Streamer (1);
         Second : Streamer (2);
         pragma Unreferenced (First, Second);
      begin
         null;
      end;
      Expect ((for all One of Right => One), "other bits");
   end Threads_Case;

   procedure State_Case is
      Want : constant Floats_Access := Numbers (Get ("output"));
      X : constant Floats_Access := Numbers (Get ("input"));
      Saved : constant Bytes := Content (Get ("state"));
      At_Frame : constant Natural := Number ("at");
      Rest : Floats (1 .. Want'Length - At_Frame);
      Before : Floats (1 .. At_Frame);
      Blob : Model;
      Loaded, Streamed : Session;
   begin
      Open (Blob);
      Loaded.Make (Blob, Isa_Allowed => Reference);
      Streamed.Make (Blob, Isa_Allowed => Reference);
      Loaded.Load_State (0, Saved);
      Stream (Loaded, X.all, At_Frame, Want'Length, Rest);
      Expect (Same (Rest, Want (At_Frame + 1 .. Want'Last)), "goes on with other bits");
      Stream (Streamed, X.all, 0, At_Frame, Before);
      Expect (Streamed.Save_State = Saved, "saves other bytes");
   end State_Case;

   procedure Load_Case is
      Want : constant Floats_Access := Numbers (Get ("output"));
      Y : Floats (1 .. 10);
      Blob : Model;
      Net : Session;
   begin
      Open (Blob);
      Net.Make (Blob, Isa_Allowed => Reference);
      begin
         Net.Load_State (0, Content (Get ("state")));
         Expect (False, "is loaded");
      exception
         when Error : others =>
            Expect (Is_Status (Error, Number ("status")), Ada.Exceptions.Exception_Name (Error));
      end;
      Stream (Net, Numbers (Get ("input")).all, 0, 10, Y);
      Expect (Same (Y, Want (1 .. 10)), "the state has changed");
   end Load_Case;

   --  open, session, run.
   procedure Refused_Case (Kind : String) is
      Blob : Model;
      Net : Session;
   begin
      Open (Blob);
      if Kind = "session" then
         Net.Make (Blob, Number ("max_batch"), Number ("max_steps"), Reference);
      elsif Kind = "run" then
         Net.Make (Blob, Number ("max_batch"), Number ("steps"), Reference);
         Run (Net, Number ("steps"), Number ("batch"), Make_Tensors (Blob, Number ("steps"), Number ("batch"), Get ("spoil")), Unsigned_32 (Number ("flags")));
      end if;
      Expect (False, "is not refused");
   exception
      when Error : others =>
         Expect (Is_Status (Error, Number ("status")), Ada.Exceptions.Exception_Information (Error));
   end Refused_Case;

   function Resident_KiB return Natural is
      File : Ada.Text_IO.File_Type;
   begin
      Ada.Text_IO.Open (File, Ada.Text_IO.In_File, "/proc/self/status");
      loop
         declare
            Text : constant String := Ada.Text_IO.Get_Line (File);
         begin
            if Index (Text, "VmRSS:") = 1 then
               Ada.Text_IO.Close (File);
               return Natural'Value (Text (8 .. Index (Text, "kB") - 1));
            end if;
         end;
      end loop;
   end Resident_KiB;

   procedure Growth_Case is
      Bytes_Of_Blob : constant Bytes := Content (Get ("blob"));
      Count : constant Positive := Number ("count");
      X : constant Floats (1 .. 256) := (others => 0.0);
      Y : Floats (1 .. 1);
      Before : Natural := 0;
   begin
      for I in 1 .. Count loop
         declare
            Blob : Model;
            Net : Session;
         begin
            Blob.Open (Bytes_Of_Blob, True);
            Net.Make (Blob, Isa_Allowed => Reference);
            Net.Step (X, Y);
            if I mod 2 = 0 then  --  the others are finalized
               Net.Close;
               Blob.Close;
            end if;
         end;
         if I = Count / 10 then
            Before := Resident_KiB;
         end if;
      end loop;
      Expect (Resident_KiB - Before <= Number ("limit_kib"), "grew by" & Integer'Image (Resident_KiB - Before) & " KiB");
   end Growth_Case;

   procedure Meet (Net : in out Session; X : Floats) is
      Met, Other : Boolean := False with Volatile;
      procedure Try is
         Y : Floats (1 .. 878);
      begin
         for I in 1 .. 64 loop
            exit when Met;
            Net.Run (Y'Length, X, Y);
         end loop;
      exception
         when In_Use_Error => Met := True;
         when others => Other := True;
      end Try;
      task type Runner;
      task body Runner is
      begin
         Try;
      end Runner;
   begin
      for Round in 1 .. 20 loop
         exit when Met;
         declare
            Second : Runner;
            pragma Unreferenced (Second);
         begin
            Try;
         end;
      end loop;
      Expect (Met and not Other, "the second task is not refused");
   end Meet;

   procedure Misuse_Case is
      X : constant Floats_Access := Numbers (Get ("input"));
      What : constant String := Get ("what");
      Y : Floats (1 .. 1);
      None : Floats (1 .. 0);
      Blob : Model;
      Net, Another : Session;
   begin
      Open (Blob);
      Net.Make (Blob, Isa_Allowed => Reference);
      if What = "two_threads" then
         Meet (Net, X.all);
      else
         begin
            if What = "closed_session" then
               Net.Close;
               Net.Close;
               Net.Step (X (1 .. 256), Y);
            elsif What = "closed_model" then
               Blob.Close;
               Another.Make (Blob);
            elsif What = "short_input" then
               Net.Step (X (1 .. 255), Y);
            elsif What = "short_output" then
               Net.Step (X (1 .. 256), None);
            end if;
            Expect (False, "raises nothing");
         exception
            when Closed_Error =>
               Expect (Index (What, "closed") > 0, "is said to be closed");
            when Shape_Error =>
               Expect (Index (What, "short") > 0, "is said to have another shape");
         end;
      end if;
      if What /= "closed_session" then
         Net.Step (X (1 .. 256), Y);
      end if;
   end Misuse_Case;

   procedure Overhead_Case is
      use Ada.Real_Time;
      Blob : Model;
      Net : Session;
      X : constant Floats (1 .. 8) := (others => 0.0);
      Y : Floats (1 .. 16);
      Least : Duration := 1.0;
   begin
      Open (Blob);
      Net.Make (Blob);
      for Piece in 1 .. Number ("count") / 1000 loop
         declare
            Start : constant Time := Clock;
         begin
            for I in 1 .. 1000 loop
               Net.Step (X, Y);
            end loop;
            Least := Duration'Min (Least, To_Duration (Clock - Start));
         end;
      end loop;
      Ada.Text_IO.Put_Line ("overhead" & Integer'Image (Integer (Least * 1_000_000)));
   end Overhead_Case;

   File : Ada.Text_IO.File_Type;
begin
   Ada.Text_IO.Open (File, Ada.Text_IO.In_File, Path ("suite.txt"));
   while not Ada.Text_IO.End_Of_File (File) loop
      Ada.Text_IO.Get_Line (File, Line, Length);
      declare
         Kind : constant String := Line (1 .. Index (Line (1 .. Length), " ") - 1);
         Name : constant String := Line (Kind'Length + 2 .. Index (Line (1 .. Length) & " ", " ", Kind'Length + 2) - 1);
      begin
         if Kind = "status" then
            Status_Case;
         elsif Kind = "stream" then
            Stream_Case;
         elsif Kind = "golden" then
            Golden_Case;
         elsif Kind = "threads" then
            Threads_Case;
         elsif Kind = "state" then
            State_Case;
         elsif Kind = "load" then
            Load_Case;
         elsif Kind = "growth" then
            Growth_Case;
         elsif Kind = "misuse" then
            Misuse_Case;
         elsif Kind = "overhead" then
            Overhead_Case;
         elsif Kind /= "compile" then
            Refused_Case (Kind);
         end if;
         if Kind = "compile" then
            Ada.Text_IO.Put_Line ("na " & Name & ": Ada programs run blobs; the tool makes them");
         else
            Ada.Text_IO.Put_Line ("ok " & Name);
         end if;
      exception
         when Error : others =>
            Ada.Text_IO.Put_Line ("FAILED " & Name & ": " & Ada.Exceptions.Exception_Name (Error) & " " & Ada.Exceptions.Exception_Message (Error));
            Ada.Command_Line.Set_Exit_Status (Ada.Command_Line.Failure);
      end;
   end loop;
end Suite;
