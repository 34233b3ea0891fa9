# SPDX-License-Identifier: MIT
#
# The port, and the fakes that stand before it.

ptrace_test(port NEEDS CORE SOURCES test_port.c)
ptrace_test(port_host NEEDS TOLOG POLICY_FLUSH SOURCES test_port_host.c)
ptrace_test(port_mutex NEEDS CORE SOURCES test_mutex.c)
ptrace_test(fakes FAKES NEEDS TOLOG POLICY_FLUSH SOURCES test_fakes.c)
