// swift-tools-version:5.5
// Package.swift -- rnnpack for Swift. Untested: there was no Swift toolchain where it was written. SPDX-License-Identifier: Apache-2.0
import PackageDescription

let package = Package(
    name: "Rnnpack",
    products: [.library(name: "Rnnpack", targets: ["Rnnpack"])],
    targets: [
        .systemLibrary(name: "CRnnpack", pkgConfig: "rnnpack"),
        .target(name: "Rnnpack", dependencies: ["CRnnpack"]),
    ]
)
