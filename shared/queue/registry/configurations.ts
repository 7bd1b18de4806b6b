import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type Keys, loadScripts, type RedisClient, runScript, type Script } from '../../redis/index.ts';
import { SILENT_MS } from './process-registry.ts';

interface ClaimPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

/** `in-force`: what a process writes from its configuration holds; `replaced` is the one before, where it changed. */
export type ConfigurationClaim = { kind: 'in-force'; replaced: string | null } | { kind: 'superseded'; by: string };

const MAX_KEPT = 50;
const replySchema = z.tuple([z.enum(['in-force', 'superseded']), z.string()]);

let script: Script | undefined;

/**
 * Claims that a configuration is in force. The last that came is: a process that restarts with an older one changes nothing, as long as a
 * scheduler with the newer one lives or did so within `absentMs`.
 */
export async function claimConfiguration(
  { redis, keys }: ClaimPorts,
  configuration: string,
  { absentMs }: { absentMs: number },
): Promise<ConfigurationClaim> {
  script ??= loadScripts(fileURLToPath(new URL('../scripts', import.meta.url))).get('claim-configuration');
  if (!script) throw new Error('The script claim-configuration is missing');
  const { configurations, processes } = keys.fleet;
  const args = [configuration, SILENT_MS, Math.round(absentMs), MAX_KEPT];
  const [kind, other] = replySchema.parse(await runScript(redis, script, [configurations, processes], args));
  return kind === 'superseded' ? { kind, by: other } : { kind, replaced: other === '' ? null : other };
}
