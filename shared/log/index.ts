/** The log of a process: JSON lines by pino, with secrets redacted. */
export { type Log, createLocalLog, createLog } from './create-log.ts';
export { gatherStdout } from './line-gatherer.ts';
export { isLostReader } from './stdout-writer.ts';
