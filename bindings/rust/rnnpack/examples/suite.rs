// SPDX-License-Identifier: Apache-2.0
//! suite FOLDER -- bindings/suite.json in Rust: FOLDER/suite.txt and its data are made by bindings/test_bindings.py.
use std::collections::HashMap;
use std::error::Error as StdError;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rnnpack::sys::RNNP_ISA_REFERENCE_ONLY;
use rnnpack::{Blob, DType, Error, Input, Model, Options, Output, Role, Run, Session};

type Failure = Box<dyn StdError>;
type Done = Result<(), Failure>;

struct Case {
    folder: PathBuf,
    values: HashMap<String, String>,
}

impl Case {
    fn text(&self, key: &str) -> &str {
        &self.values[key]
    }
    fn number(&self, key: &str) -> i64 {
        self.text(key).parse().unwrap()
    }
    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(self.text(key))
    }
    fn bytes(&self, key: &str) -> Result<Vec<u8>, Failure> {
        Ok(std::fs::read(self.path(key))?)
    }
    fn floats(&self, key: &str) -> Result<Vec<f32>, Failure> {
        Ok(self.bytes(key)?.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
    }
    fn blob(&self) -> Result<Blob, Failure> {
        Ok(Blob::read(self.path("blob"))?)
    }
}

fn expect(right: bool, what: impl Into<String>) -> Done {
    if right {
        Ok(())
    } else {
        Err(what.into().into())
    }
}

fn same(a: &[f32], b: &[f32]) -> Done {
    let equal = a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
    expect(equal, "other bits")
}

fn reference() -> Options {
    Options::new().isa_allowed(RNNP_ISA_REFERENCE_ONLY)
}

fn stream(session: &mut Session, input: &[f32], frames: std::ops::Range<usize>) -> Result<Vec<f32>, Error> {
    let mut out = vec![0f32; frames.len()];
    for (y, x) in out.chunks_exact_mut(1).zip(input.chunks_exact(256).skip(frames.start)) {
        session.step(x, y)?;
    }
    Ok(out)
}

fn fails_with(case: &Case, done: Result<(), Error>) -> Done {
    let code = done.err().map_or(0, Error::code);
    expect(code as i64 == case.number("status"), format!("gives {code}"))
}

fn status(case: &Case) -> Done {
    let error = Error::from_code(case.number("code") as i32).ok_or("is no error")?;
    let boxed: Failure = error.into();
    expect(error.code() as i64 == case.number("code") && error.constant() == case.text("constant"), format!("is {error:?}"))?;
    expect(!boxed.to_string().is_empty() && boxed.to_string() == error.text(), "has no text")
}

fn speech(case: &Case) -> Done {
    let (input, want, labels) = (case.floats("input")?, case.floats("output")?, case.bytes("labels")?);
    let blob = case.blob()?;
    let out = stream(&mut Session::new(&Model::open(&blob)?, &reference())?, &input, 0..want.len())?;
    same(&out, &want)?;
    let count = |label| {
        let of: Vec<bool> = labels.iter().zip(&out).filter(|(one, _)| **one == label).map(|(_, y)| *y >= 0.5).collect();
        (of.iter().filter(|found| **found).count(), of.len())
    };
    let ((found, spoken), (alarms, silent)) = (count(1), count(2));
    let line = format!("loud speech frames found {found} of {spoken}, speech said in the gaps {alarms} of {silent} frames");
    println!("{line}");
    expect(line.as_bytes() == case.bytes("line")?, "another line")
}

/// A run on the suite's numbers: the outputs, or why it failed.
fn run_numbers(
    case: &Case,
    model: &Model,
    session: &mut Session,
    batch: u32,
    flags: u32,
    spoil: &str,
) -> Result<Vec<Vec<f32>>, Error> {
    let steps = case.number("steps") as usize;
    let (mut state, mut floats, mut ints) = (1u32, Vec::new(), Vec::new());
    for input in model.inputs() {
        let given = matches!(input.role, Role::Sequence | Role::PerRun);
        let (mut f, mut i) = (Vec::new(), Vec::new());
        for _ in 0..if given { input.elems(steps, batch as usize).unwrap() } else { 0 } {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            match input.dtype {
                DType::F32 => f.push((state >> 16) as f32 / 32768.0 - 1.0),
                DType::I32 => i.push(((state >> 16) % input.limit) as i32),
            }
        }
        match spoil {
            "nan" => f[0] = f32::NAN,
            "index" => i[0] = input.limit as i32,
            _ => {}
        }
        floats.push(f);
        ints.push(i);
    }
    let inputs: Vec<Input> = model
        .inputs()
        .enumerate()
        .map(|(at, one)| match (one.role, one.dtype) {
            (Role::State | Role::Lengths, _) => Input::Absent,
            (_, DType::F32) => Input::F32(&floats[at]),
            (_, DType::I32) => Input::I32(&ints[at]),
        })
        .collect();
    let mut out: Vec<Vec<f32>> = model.outputs().map(|one| vec![0f32; one.elems(steps, batch as usize).unwrap()]).collect();
    let mut outputs: Vec<Output> = out.iter_mut().map(|one| Output::F32(one)).collect();
    session.run_io(&Run { steps, batch, flags, ..Run::default() }, &inputs, &mut outputs)?;
    Ok(out)
}

fn golden(case: &Case) -> Done {
    let blob = case.blob()?;
    let model = Model::open(&blob)?;
    let fixed = model.info().fixed_batch;
    let batch = if fixed != 0 { fixed } else { case.number("batch") as u32 };
    let options = reference().max_batch(batch).max_steps(case.number("steps") as u32);
    let out = run_numbers(case, &model, &mut Session::new(&model, &options)?, batch, 0, "no")?;
    same(&out.concat(), &case.floats("output")?)
}

fn run_refused(case: &Case) -> Done {
    let blob = case.blob()?;
    let model = Model::open(&blob)?;
    let options = reference().max_batch(case.number("max_batch") as u32).max_steps(case.number("steps") as u32);
    let mut session = Session::new(&model, &options)?;
    let done =
        run_numbers(case, &model, &mut session, case.number("batch") as u32, case.number("flags") as u32, case.text("spoil"));
    expect(!session.last_error().is_empty(), "does not say why")?;
    fails_with(case, done.map(|_| ()))
}

fn threads(case: &Case) -> Done {
    let (input, want, blob) = (case.floats("input")?, case.floats("output")?, case.blob()?);
    let model = Model::open(&blob)?;
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..case.number("count"))
            .map(|_| {
                let mut session = Session::new(&model, &reference()).unwrap();
                let (input, want) = (&input, &want);
                scope.spawn(move || stream(&mut session, input, 0..want.len()).map(|out| same(&out, want).is_ok()))
            })
            .collect();
        for one in all {
            expect(one.join().unwrap()?, "other bits")?;
        }
        Ok(())
    })
}

fn state(case: &Case) -> Done {
    let (input, want, saved) = (case.floats("input")?, case.floats("output")?, case.bytes("state")?);
    let (blob, at) = (case.blob()?, case.number("at") as usize);
    let model = Model::open(&blob)?;
    let (mut loaded, mut streamed) = (Session::new(&model, &reference())?, Session::new(&model, &reference())?);
    loaded.load_state(0, &saved)?;
    same(&stream(&mut loaded, &input, at..want.len())?, &want[at..])?;
    stream(&mut streamed, &input, 0..at)?;
    let mut bytes = vec![0; streamed.state_bytes()];
    streamed.save_state(0, &mut bytes)?;
    expect(bytes == saved, "saves other bytes")
}

fn load(case: &Case) -> Done {
    let (input, want, saved, blob) = (case.floats("input")?, case.floats("output")?, case.bytes("state")?, case.blob()?);
    let mut session = Session::new(&Model::open(&blob)?, &reference())?;
    fails_with(case, session.load_state(0, &saved))?;
    same(&stream(&mut session, &input, 0..10)?, &want[..10])
}

fn session(case: &Case) -> Done {
    let blob = case.blob()?;
    let options = reference().max_batch(case.number("max_batch") as u32).max_steps(case.number("max_steps") as u32);
    fails_with(case, Session::new(&Model::open(&blob)?, &options).map(|_| ()))
}

fn resident_kib() -> i64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn growth(case: &Case) -> Done {
    let (count, mut before) = (case.number("count"), 0);
    for i in 0..count {
        let blob = case.blob()?;
        Session::new(&Model::open(&blob)?, &reference())?.step(&[0.0; 256], &mut [0.0])?;
        if i == count / 10 {
            before = resident_kib();
        }
    }
    let grown = resident_kib() - before;
    expect(grown <= case.number("limit_kib"), format!("grew by {grown} KiB"))
}

/// What the compiler refuses is in the documentation of the crate, as examples that must not compile.
fn misuse(case: &Case) -> Done {
    let (input, blob) = (case.floats("input")?, case.blob()?);
    let mut session = Session::new(&Model::open(&blob)?, &reference())?;
    let wrong = match case.text("what") {
        "short_input" => session.step(&input[..255], &mut [0.0]),
        "short_output" => session.step(&input[..256], &mut []),
        "closed_session" | "closed_model" | "two_threads" => Err(Error::Shape),
        what => return Err(what.into()),
    };
    expect(wrong == Err(Error::Shape), format!("{wrong:?}"))?;
    Ok(session.step(&input[..256], &mut [0.0])?)
}

fn compile(case: &Case) -> Done {
    let option = case.text("option");
    let one = [option];
    let options: &[&str] = if option == "-" { &[] } else { &one };
    let status = case.number("status");
    match rnnpack::compiler::compile(&std::fs::read(case.folder.join(case.text("onnx")))?, options) {
        Ok(made) => expect(status == 0 && made.blob == std::fs::read(case.folder.join(case.text("blob")))?, "another blob"),
        Err(why) => expect(why.reason as i64 == status && !why.text.is_empty(), format!("gives {:?}: {why}", why.reason)),
    }
}

fn overhead(case: &Case) -> Done {
    const PIECE: i64 = 1000;
    let blob = case.blob()?;
    let mut session = Session::new(&Model::open(&blob)?, &Options::new())?;
    let (x, mut y, mut least) = ([0f32; 8], [0f32; 16], f64::MAX);
    for _ in 0..case.number("count") / PIECE {
        let start = Instant::now();
        for _ in 0..PIECE {
            session.step(&x, &mut y)?;
        }
        least = least.min(start.elapsed().as_secs_f64() * 1e9 / PIECE as f64);
    }
    println!("overhead {least:.1}");
    Ok(())
}

fn run(case: &Case) -> Done {
    match case.text("kind") {
        "status" => status(case),
        "stream" => speech(case),
        "golden" => golden(case),
        "threads" => threads(case),
        "state" => state(case),
        "load" => load(case),
        "open" => fails_with(case, Model::open(&case.blob()?).map(|_| ())),
        "session" => session(case),
        "run" => run_refused(case),
        "growth" => growth(case),
        "misuse" => misuse(case),
        "compile" => compile(case),
        "overhead" => overhead(case),
        kind => Err(kind.into()),
    }
}

fn main() {
    let folder = PathBuf::from(std::env::args().nth(1).expect("the suite's folder"));
    let mut failures = 0;
    for line in std::fs::read_to_string(Path::new(&folder).join("suite.txt")).unwrap().lines() {
        let mut words = line.split_whitespace();
        let (kind, name) = (words.next().unwrap(), words.next().unwrap());
        let mut values: HashMap<String, String> =
            words.map(|word| word.split_once('=').unwrap()).map(|(k, v)| (k.into(), v.into())).collect();
        values.insert("kind".into(), kind.into());
        match run(&Case { folder: folder.clone(), values }) {
            Ok(()) => println!("ok {name}"),
            Err(why) => {
                println!("FAILED {name}: {why}");
                failures += 1;
            }
        }
    }
    std::process::exit((failures != 0) as i32);
}
