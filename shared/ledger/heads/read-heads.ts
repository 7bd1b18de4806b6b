import { fileURLToPath } from 'node:url';
import { loadScripts, runScript, type Script } from '../../redis/index.ts';
import type { TaskBody } from '../../tasks/index.ts';
import type { Ledger } from '../ledger.ts';
import { HEAD_ENDS, parseBody } from '../stored-body.ts';

/** What of a task's body stands before its input. */
export type TaskHead = Pick<TaskBody, 'id' | 'agent' | 'source' | 'session' | 'scheduleId'>;

const SCRIPTS = loadScripts(fileURLToPath(new URL('scripts', import.meta.url)));
/** Tasks read together: Redis answers no one else meanwhile. */
const PAGE = 200;

/** The heads of a tenant's tasks, by id; those that are not kept any more are missing. One round trip, whatever the tasks were sent. */
export async function readHeads(
  { redis, keys }: Pick<Ledger, 'redis' | 'keys'>,
  tenant: string,
  ids: readonly string[],
): Promise<Map<string, TaskHead>> {
  const { bodies } = keys.tenant(tenant);
  const pages = Array.from({ length: Math.ceil(ids.length / PAGE) }, (_, page) => ids.slice(page * PAGE, (page + 1) * PAGE));
  const found = await Promise.all(
    pages.map(async (page) => {
      // What the script answers is in its header.
      return (await runScript(redis, SCRIPTS.get('read-heads') as Script, [bodies], [HEAD_ENDS, ...page])) as string[];
    }),
  );
  return new Map(
    found
      .flat()
      .filter((head) => head !== '')
      .map((head) => parseBody(`${head}}`))
      .map((head): [string, TaskHead] => [head.id, head]),
  );
}
