import type { Logger } from 'chat';
import type { Log } from '#shared/log/index.ts';

/**
 * The adapters' own lines, in ours. Of their fields only the error and the status are kept: the others hold people's texts
 * and, at times, signatures. What they call an error is one failed call, which whoever made it deals with.
 */
export function sdkLog(log: Log): Logger {
  const warn = (message: string, ...args: unknown[]): void => log.warn({ event: 'chat.adapter', ...fieldsOf(args) }, message);
  const debug = (message: string): void => log.debug({ event: 'chat.adapter' }, message);
  return { child: () => sdkLog(log), debug, info: debug, warn, error: warn };
}

function fieldsOf(args: readonly unknown[]): { reason?: string; status?: number } {
  const [fields] = args;
  if (typeof fields !== 'object' || fields === null) return {};
  return {
    ...('error' in fields ? { reason: fields.error instanceof Error ? fields.error.message : String(fields.error) } : {}),
    ...('status' in fields && typeof fields.status === 'number' ? { status: fields.status } : {}),
  };
}
