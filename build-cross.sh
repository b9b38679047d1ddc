# cross.sh target [targets...]
t=$1; shift
[ -f build-$t/build.ninja ] || cmake --preset $t -B build-$t -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DRNNPACK_HOST_TOOLS_READY=ON -DRNNPACK_HOST_TOOLS_DIR=$PWD/build-hosted ${EXTRA:-} > build-$t.cfg.log 2>&1 || tail build-$t.cfg.log
ninja -C build-$t -j2 "$@" 2>&1 | tail -${TAIL:-25}
