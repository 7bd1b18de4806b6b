/** The log of a process: JSON lines by pino, with secrets redacted. */
export { createLocalLog } from './create-log.ts';
export { type Log, createLog } from './create-log.ts';
