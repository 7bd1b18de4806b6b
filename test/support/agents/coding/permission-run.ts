import { join } from 'node:path';
import type { AttemptCheckpoint, DefinitionOf } from '#shared/agents/agent-kind.ts';
import { openCommandRunner } from '#shared/agents/index.ts';
import { type CommandSettings, commandSettingsSchema } from '#shared/config/settings/worker-settings.ts';
import { type ObservedRun, observeRun } from '../agent-run.ts';
import { childEnvironment } from '../../test-environment.ts';
import { Shelf } from './shelf.ts';

export interface Asked {
  permissions: { given: object; tools: string[]; asked: { tool: string } };
  suspend: { ask: { question: string; choices: string[]; to?: string[] } };
}

interface PermissionRunOptions {
  /** What programs are found in, with a folder `attempts`. */
  directory: string;
  definition: Partial<DefinitionOf<'command'>>;
  /** Absent for users of their own, where this process is root. */
  uid?: 'own' | undefined;
  settings?: Partial<CommandSettings>;
}

interface AttemptOptions {
  isOfTask?: boolean;
  askFor?: AttemptCheckpoint['askFor'];
}

const readSecret = (name: string): string | undefined => childEnvironment()[name];

/** As root, programs have users of their own besides. */
export const COMMAND_USERS = process.getuid?.() === 0 ? (['own', undefined] as const) : (['own'] as const);

/** One run over its attempts: each has what the one before left, and the answer to what it asked. */
export class PermissionRun {
  readonly #shelf = new Shelf();
  readonly #options: PermissionRunOptions;
  #checkpoint: string | null = null;
  /** The last attempt. */
  observed: ObservedRun<DefinitionOf<'command'>> | undefined;

  constructor(options: PermissionRunOptions) {
    this.#options = options;
  }

  #askedSince(before: string | null): Asked | null {
    return this.#checkpoint !== before && 'suspend' in this.asked ? this.asked : null;
  }

  /** What its checkpoint says by now. */
  get asked(): Asked {
    return JSON.parse(this.#checkpoint ?? 'null') as Asked;
  }

  /** Runs an attempt; `answer` is that to the question before. Gives what it asks, or its output. */
  async attempt(
    input: string,
    answer?: string | null,
    { isOfTask = true, askFor }: AttemptOptions = {},
  ): Promise<{ asked: Asked | null; output: Record<string, unknown> | null }> {
    const { directory, definition, uid, settings } = this.#options;
    const before = this.#checkpoint;
    const commands = commandSettingsSchema.parse({
      folder: join(directory, 'attempts'),
      pollMs: 50,
      killGraceMs: 100,
      ...settings,
      ...(uid && { uid, sharedUser: true }),
    });
    const runner = openCommandRunner({ directory, readSecret, fleetId: () => Promise.resolve('f'), commands });
    const observed = observeRun<'command'>({ kind: 'command', permissions: 'ask', ...definition }, { task: { input } });
    this.observed = observed;
    const checkpoint = {
      text: before,
      resumed: answer === undefined ? null : JSON.stringify(answer),
      key: 'k',
      address: 'http://127.0.0.1/',
      ...(askFor && { askFor }),
      keep: (text: string) => {
        this.#checkpoint = text;
        return Promise.resolve();
      },
    };
    this.#shelf.isOfTask = isOfTask && this.#shelf.kept > 0;
    const { output } = await runner({ ...observed.run, sessions: this.#shelf.sessions, checkpoint });
    return { asked: this.#askedSince(before), output: output === undefined ? null : readOutput(output) };
  }
}

function readOutput(text: string): Record<string, unknown> {
  return text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : { text };
}
