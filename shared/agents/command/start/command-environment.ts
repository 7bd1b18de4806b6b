import type { AgentEnvironment, DefinitionOf } from '../../agent-kind.ts';
import { join } from 'node:path';
import { CHECKPOINT_FILE } from '../kept/checkpoint-file.ts';
import { MARK_VARIABLE } from '../processes/attempt-mark.ts';
import { presetOf } from './command-line.ts';
import type { CommandOptions, CommandPlace, CommandRun } from '../command-run.ts';

/** Variables that every program inherits. The others, secrets above all, stay out of its environment. */
const PASSED = ['PATH', 'LANG'];

/** The variables of this process that a definition passes on and that are set. */
export function readVariables(
  { passEnv = [] }: DefinitionOf<'command'>,
  readSecret: AgentEnvironment['readSecret'],
): Record<string, string> {
  const passed = [...PASSED, ...passEnv].map((name) => [name, readSecret(name)] as const);
  return Object.fromEntries(passed.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

export function buildEnvironment(
  { task, definition, context, checkpoint }: CommandRun,
  variables: CommandOptions['variables'],
  { mark, folder }: CommandPlace,
): Record<string, string> {
  return {
    HOME: folder.home,
    TMPDIR: folder.temporary,
    ...presetOf(definition)?.env,
    ...variables,
    ...definition.env,
    [MARK_VARIABLE]: mark,
    MUSTER_TASK_ID: task.id,
    MUSTER_ATTEMPT: String(task.attempt),
    MUSTER_TENANT: task.tenant,
    MUSTER_IN_DIR: folder.in,
    MUSTER_OUT_DIR: folder.out,
    ...(checkpoint && {
      MUSTER_CHECKPOINT: join(folder.out, CHECKPOINT_FILE),
      MUSTER_CHECKPOINT_URL: checkpoint.address,
      MUSTER_ATTEMPT_KEY: checkpoint.key,
    }),
    ...(checkpoint?.resumed != null && { MUSTER_RESUMED: checkpoint.resumed }),
    ...(task.session === null ? {} : { MUSTER_SESSION: task.session }),
    TRACEPARENT: context.trace.traceparent,
  };
}
