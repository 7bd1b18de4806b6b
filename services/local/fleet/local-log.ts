import { join } from 'node:path';
import type { Config } from '#shared/config/index.ts';
import { createLocalLog, isTraced, type Log } from '#shared/log/index.ts';
import { consoleLines, openRotatingFile, type Rotation } from '../log-destinations.ts';
import type { DataFolders } from './data-directory.ts';

/** Of the fleet's log and of its Redis's. */
export const LOG_FILES: Rotation = { maxBytes: 20_000_000, keep: 3 };

interface LocalLogOptions {
  config: Pick<Config, 'env' | 'readVariable'>;
  directory: Pick<DataFolders, 'logs'>;
  /** Events that the terminal need not show. */
  fileOnly?: readonly string[];
}

/** The log of a local fleet: all of it in the data directory, and short lines at the terminal. */
export function openLocalLog({ config: { env, readVariable }, directory: { logs }, fileOnly = [] }: LocalLogOptions): Log {
  const hasColors = process.stdout.isTTY && readVariable('NO_COLOR') === undefined;
  const destinations = [openRotatingFile(join(logs, 'muster.log'), LOG_FILES), consoleLines(process.stdout, { hasColors, fileOnly })];
  return createLocalLog({ level: env.LOG_LEVEL, service: 'local', destinations, hasSpans: isTraced(env) });
}
