SUMMARY = "POSIX tracing for real-time C programs"
DESCRIPTION = "Trace points that take no lock, streams and logs, as IEEE Std 1003.1-2008 \
describes them, and pxtrace, which reads and explains the logs."
LICENSE = "MIT"
LIC_FILES_CHKSUM = "file://LICENSE;md5=fbe7ed84020e9fd8383b52cce6450ada"

# A release's archive needs no Kconfiglib; sources from a repository want one on the host.
PV = "1.0.0"
inherit cmake pkgconfig externalsrc
EXTERNALSRC = "${LIBPTRACE_SOURCES}"
EXTERNALSRC_BUILD = "${WORKDIR}/build"

# A file of configs/ without its end "_defconfig".
LIBPTRACE_DEFCONFIG ?= "full"
EXTRA_OECMAKE = "-DPTRACE_DEFCONFIG=configs/${LIBPTRACE_DEFCONFIG}_defconfig"

PACKAGECONFIG ?= "tools"
PACKAGECONFIG[tools] = "-DPTRACE_TOOLS=ON,-DPTRACE_TOOLS=OFF"
PACKAGECONFIG[elf] = ",,elfutils"
PACKAGECONFIG[ncurses] = ",,ncurses"
PACKAGECONFIG[zstd] = ",,zstd"

PACKAGES =+ "${PN}-tools ${PN}-retrieval"
FILES:${PN}-retrieval = "${libdir}/libptrace-retrieval${SOLIBS}"
FILES:${PN}-tools = "${bindir} ${libdir}/libptrace ${datadir}/libptrace ${datadir}/bash-completion"
