/** How many times longer work takes now than on a machine that does nothing else; 1 on a quiet one. */
export function slowdown(): number {
  const [beganMs, before] = [performance.now(), process.cpuUsage()]
  for (;;) {
    const { user, system } = process.cpuUsage(before)
    const workedMs = (user + system) / 1000
    if (workedMs >= 100) return Math.max(1, (performance.now() - beganMs) / workedMs)
  }
}
