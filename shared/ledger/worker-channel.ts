/** Where workers listen for what concerns the attempts they run; see `parseWorkerSignal` for the messages. */
export function workerChannel(signal: string): string {
  return `${signal}:stop`;
}
