include $(sort $(wildcard $(BR2_EXTERNAL_LIBPTRACE_PATH)/package/*/*.mk))
