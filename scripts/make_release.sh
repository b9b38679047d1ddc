#!/bin/bash
# make_release.sh BUILD DIST [library] -- what a release consists of, from the commit that is checked out: source archive, Python
# wheel, Debian packages, SPDX bill of materials, SHA-256 sums; `library`: without the compiler and the wheel. Times in the files
# are the commit's (SOURCE_DATE_EPOCH), and no path of this machine gets into them: the same commit gives the same bits in any
# folder (tests/release).
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
build=$(realpath -m "$1") dist=$2 compiler=ON
[ "${3:-}" != library ] || compiler=OFF
version=$(sed -n 's/^project(rnnpack VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
changed=$(git status --porcelain --untracked-files=no)
[ -z "$changed" ] || { echo "make_release.sh: commit these first, a release is a commit:" >&2; echo "$changed" >&2; exit 1; }
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
rm -rf "$dist"
mkdir -p "$dist"
dist=$(cd "$dist" && pwd)

git archive --format=tar --prefix="rnnpack-$version/" HEAD | gzip -n -9 >"$dist/rnnpack-$version.tar.gz"

# All is built from the archive, so nothing that is not in it gets in.
tree=$build-release/rnnpack-$version
rm -rf "$build-release"
mkdir -p "$build-release"
tar -xzf "$dist/rnnpack-$version.tar.gz" -C "$build-release"
tree=$(cd "$tree" && pwd)
no_paths="-ffile-prefix-map=$tree=. -g0"
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache)
(
  cd "$tree"
  cmake -S . -B build -G Ninja "${launcher[@]}" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DRNNPACK_COMPILER=$compiler \
    -DCMAKE_C_FLAGS="$no_paths" -DCMAKE_CXX_FLAGS="$no_paths" -DCMAKE_SKIP_INSTALL_RPATH=ON
  cmake --build build -j "${JOBS:-$(nproc)}"
  cd build
  cpack -G DEB
) >"$build-release.log" 2>&1 || { tail -n 40 "$build-release.log" >&2; exit 1; }
mv "$tree"/build/*.deb "$dist"

if [ $compiler = ON ]; then
  (cd "$tree" && CXXFLAGS=$no_paths CFLAGS=$no_paths scripts/make_wheel.sh "$build-release-wheel")
  cp "$build-release-wheel"/*.whl "$dist"
fi
scripts/make_sbom.py "$version" "$SOURCE_DATE_EPOCH" "$dist" >"$build-release.spdx.json"
mv "$build-release.spdx.json" "$dist/rnnpack-$version.spdx.json"
(cd "$dist" && sha256sum -- * >"$build-release.sums" && mv "$build-release.sums" SHA256SUMS)
ls -l "$dist"
