// SPDX-License-Identifier: Apache-2.0
//! Finds or compiles the library, with std alone. In this order:
//!   RNNPACK_LIB_DIR  a folder with librnnpack.a, which has every instruction set and chooses when it runs
//!   RNNPACK_SOURCES  what `rnnpack sources FOLDER` wrote, or the folder `library` of this crate: compiled by $CXX (c++), for the
//!                    instruction sets that rustc compiles for (`-C target-cpu=native`)
//!   pkg-config       rnnpack-static, where it is installed
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const FLAGS: &[&str] = &[
    "-std=c++17",
    "-O3",
    "-DNDEBUG",
    "-fPIC",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    "-ffunction-sections",
    "-fdata-sections",
    "-ffp-contract=off",
    "-fno-math-errno",
];

/// Features of rustc and the compiler's flags for them.
const FEATURES: &[(&str, &str)] = &[
    ("avx2", "-mavx2"),
    ("fma", "-mfma"),
    ("f16c", "-mf16c"),
    ("avxvnni", "-mavxvnni"),
    ("avx512f", "-mavx512f"),
    ("avx512bw", "-mavx512bw"),
    ("avx512dq", "-mavx512dq"),
    ("avx512vl", "-mavx512vl"),
    ("avx512vnni", "-mavx512vnni"),
    ("simd128", "-msimd128"),
];

fn main() {
    for name in ["RNNPACK_LIB_DIR", "RNNPACK_SOURCES", "RNNPACK_COMPILER_DIR", "CXX", "AR", "CXXFLAGS"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let packaged = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("library");
    if let Some(folder) = env::var_os("RNNPACK_LIB_DIR") {
        println!("cargo:rerun-if-changed={}", Path::new(&folder).join("librnnpack.a").display());
        println!("cargo:rustc-link-search=native={}", folder.to_string_lossy());
        println!("cargo:rustc-link-lib=static=rnnpack");
    } else if let Some(folder) = env::var_os("RNNPACK_SOURCES") {
        compile(Path::new(&folder));
    } else if packaged.exists() {
        compile(&packaged);
    } else if !pkg_config() {
        panic!("no library: set RNNPACK_LIB_DIR to a folder with librnnpack.a, or RNNPACK_SOURCES to what `rnnpack sources` wrote");
    }
    if env::var("CARGO_CFG_TARGET_OS").unwrap() != "none" && env::var("CARGO_CFG_UNIX").is_ok() {
        println!("cargo:rustc-link-lib=m");
        println!("cargo:rustc-link-lib=pthread");
    }
    if env::var_os("CARGO_FEATURE_COMPILER").is_some() {
        if let Some(folder) = env::var_os("RNNPACK_COMPILER_DIR") {
            println!("cargo:rustc-link-search=native={}", folder.to_string_lossy());
        }
        println!("cargo:rustc-link-lib=dylib=rnnpack_compiler");
    }
}

fn pkg_config() -> bool {
    let said = match Command::new("pkg-config").args(["--libs", "rnnpack-static"]).output() {
        Ok(said) if said.status.success() => said.stdout,
        _ => return false,
    };
    for word in String::from_utf8_lossy(&said).split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        }
    }
    println!("cargo:rustc-link-lib=static=rnnpack");
    true
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().map_or(false, |extension| extension == "cpp") {
            found.push(path);
        }
    }
}

fn compile(folder: &Path) {
    println!("cargo:rerun-if-changed={}", folder.display());
    if !vectors(&env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default()) && env::var_os("CXXFLAGS").is_none() {
        println!("cargo:warning=rnnpack runs without vectors, many times slower: set RUSTFLAGS=\"-C target-cpu=native\", or RNNPACK_LIB_DIR");
    }
    let (root, out) = (folder.join("src"), PathBuf::from(env::var_os("OUT_DIR").unwrap()));
    let mut files = Vec::new();
    sources(&root, &mut files);
    let objects: Vec<PathBuf> = (0..files.len()).map(|i| out.join(format!("rnnpack{i}.o"))).collect();
    let next = AtomicUsize::new(0);
    let count = thread::available_parallelism().map_or(1, |n| n.get());
    thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= files.len() {
                    return;
                }
                run(compiler().arg("-I").arg(&root).arg("-c").arg(&files[i]).arg("-o").arg(&objects[i]));
            });
        }
    });
    let archive = out.join("librnnpack.a");
    let _ = std::fs::remove_file(&archive);
    run(Command::new(env::var("AR").unwrap_or_else(|_| "ar".into())).arg("crs").arg(&archive).args(&objects));
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=rnnpack");
}

/// x86 without AVX2 has no vector kernels: a program for any x86 gets the plain ones.
fn vectors(features: &str) -> bool {
    let has = |name: &str| features.split(',').any(|one| one == name);
    !env::var("CARGO_CFG_TARGET_ARCH").unwrap().starts_with("x86") || (has("avx2") && has("fma") && has("f16c"))
}

fn compiler() -> Command {
    let mut command = Command::new(env::var("CXX").unwrap_or_else(|_| "c++".into()));
    command.args(FLAGS);
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    for (feature, flag) in FEATURES {
        if features.split(',').any(|one| one == *feature) {
            command.arg(flag);
        }
    }
    if !vectors(&features) {
        command.arg("-DRNNPACK_REFERENCE_KERNELS");
    }
    command.args(env::var("CXXFLAGS").unwrap_or_default().split_whitespace());
    command
}

fn run(command: &mut Command) {
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{command:?}: {status}"),
        Err(error) => panic!("{command:?}: {error}"),
    }
}
