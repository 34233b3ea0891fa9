################################################################################
#
# libptrace
#
################################################################################

# The sources that this recipe came with.
LIBPTRACE_VERSION = 1.0.0
LIBPTRACE_SITE = $(BR2_EXTERNAL_LIBPTRACE_PATH)/../../..
LIBPTRACE_SITE_METHOD = local
LIBPTRACE_LICENSE = MIT
LIBPTRACE_LICENSE_FILES = LICENSE
LIBPTRACE_INSTALL_STAGING = YES
LIBPTRACE_DEPENDENCIES = host-pkgconf
LIBPTRACE_CONF_OPTS = \
	-DPTRACE_DEFCONFIG=configs/$(call qstrip,$(BR2_PACKAGE_LIBPTRACE_DEFCONFIG))_defconfig \
	-DPTRACE_SHARED=$(if $(BR2_STATIC_LIBS),OFF,ON) \
	-DPTRACE_TOOLS=$(if $(BR2_PACKAGE_LIBPTRACE_TOOLS),ON,OFF)

# What pxtrace uses where it is there.
ifeq ($(BR2_PACKAGE_LIBPTRACE_TOOLS),y)
LIBPTRACE_DEPENDENCIES += \
	$(if $(BR2_PACKAGE_ELFUTILS),elfutils) \
	$(if $(BR2_PACKAGE_NCURSES),ncurses) \
	$(if $(BR2_PACKAGE_PROTOBUF_C),protobuf-c host-protobuf-c) \
	$(if $(BR2_PACKAGE_ZSTD),zstd)
endif

$(eval $(cmake-package))
