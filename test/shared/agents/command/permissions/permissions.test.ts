import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AttemptCheckpoint, DefinitionOf } from '#shared/agents/agent-kind.ts';
import { openCommandRunner } from '#shared/agents/index.ts';
import { agentDefinitionSchema } from '#shared/config/agent-definitions.ts';
import { commandSettingsSchema } from '#shared/config/settings/worker-settings.ts';
import { placeFakeCoders } from '../../../../support/agents/coding/fake-coders.ts';
import { Shelf } from '../../../../support/agents/coding/shelf.ts';
import { observeRun } from '../../../../support/agents/agent-run.ts';
import { childEnvironment } from '../../../../support/test-environment.ts';
import { useFolder } from '../../../../support/use-folder.ts';

const directory = await useFolder('muster-permissions-');
const folder = join(directory, 'attempts');
await chmod(directory, 0o711);
await mkdir(folder, { mode: 0o755 });
const { claude } = await placeFakeCoders(join(directory, 'bin'));

/** As root, programs have users of their own besides. */
const USERS = process.getuid?.() === 0 ? (['own', undefined] as const) : (['own'] as const);

const readSecret = (name: string): string | undefined => childEnvironment()[name];
const isValid = (given: object): boolean => agentDefinitionSchema.safeParse({ kind: 'command', permissions: 'ask', ...given }).success;

interface Asked {
  permissions: { given: object; tools: string[]; asked: { tool: string } };
  suspend: { ask: { question: string; choices: string[]; to?: string[] } };
}

/** One run over its attempts: each has what the one before left, and the answer to what it asked. */
class Run {
  readonly #shelf = new Shelf();
  readonly #definition: Partial<DefinitionOf<'command'>>;
  readonly #uid: 'own' | undefined;
  #checkpoint: string | null = null;

  constructor(uid: 'own' | undefined, definition: Partial<DefinitionOf<'command'>> = {}) {
    this.#uid = uid;
    this.#definition = definition;
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
    { isOfTask = true, askFor }: { isOfTask?: boolean; askFor?: AttemptCheckpoint['askFor'] } = {},
  ): Promise<{ asked: Asked | null; output: Record<string, unknown> | null }> {
    const before = this.#checkpoint;
    const commands = commandSettingsSchema.parse({
      folder,
      pollMs: 50,
      killGraceMs: 100,
      ...(this.#uid && { uid: this.#uid, sharedUser: true }),
    });
    const runner = openCommandRunner({ directory, readSecret, fleetId: () => Promise.resolve('f'), commands });
    const observed = observeRun<'command'>(
      { kind: 'command', preset: 'claude-code', command: claude, permissions: 'ask', ...this.#definition },
      { task: { input } },
    );
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
    return { asked: this.#askedSince(before), output: output === undefined ? null : (JSON.parse(output) as Record<string, unknown>) };
  }
}

describe.each(USERS)('the permission of a coding agent, with commands.uid %s', (uid) => {
  it('is a question, and the agent goes on in its session with the answer', async () => {
    const run = new Run(uid, { permissions: { to: ['ann'], timeoutMs: '2 days' } });
    const { asked, output } = await run.attempt('ask rm -rf build');
    expect(output).toBeNull();
    expect(asked?.suspend.ask).toEqual({
      question: expect.stringMatching(
        /^May the agent "tested" use Bash with this\?\n\{\n {2}"command": "rm -rf build",\n {2}"description": "Does it"\n\}\nsha256 [0-9a-f]{64}$/,
      ),
      choices: ['approve', 'approve Bash for this task', 'refuse'],
      to: ['ann'],
      timeoutMs: '2 days',
    });
    const after = await run.attempt('ask rm -rf build', 'approve');
    expect(after.asked).toBeNull();
    expect(after.output).toMatchObject({
      turns: [
        'ask rm -rf build',
        expect.stringMatching(/^You asked whether you may use Bash, and a person allowed it.*ask rm -rf build$/s),
      ],
      files: ['ran.txt'],
      decisions: [{ behavior: 'allow', updatedInput: { command: 'rm -rf build' } }],
    });
  });
});

describe.each(USERS)('an answer that comes soon, with commands.uid %s', (uid) => {
  it('reaches the program, which goes on as it is', async () => {
    const run = new Run(uid);
    const [questions, answers] = [[] as string[], ['approve', 'refuse', 'approve Bash for this task']];
    const askFor = (ms: number): Promise<string> => {
      expect(ms).toBe(60_000);
      questions.push(run.asked.suspend.ask.question);
      return Promise.resolve(JSON.stringify(answers.shift()));
    };
    const { asked, output } = await run.attempt('ask one then one then two then three then four', undefined, { askFor });
    expect(questions).toEqual(['one', 'two', 'three'].map((name) => expect.stringContaining(`"${name}"`)));
    // Nothing is asked at its end, and it was started once.
    expect(asked).toBeNull();
    expect(output).toMatchObject({
      turns: ['ask one then one then two then three then four'],
      decisions: ['allow', 'allow', 'deny', 'allow', 'allow'].map((behavior) => ({ behavior })),
    });
    // The next attempt knows what was answered.
    expect(run.asked.permissions).toMatchObject({ tools: ['Bash'] });
    expect((await run.attempt('ask one')).output).toMatchObject({
      turns: [expect.anything(), expect.stringMatching(/^This run was interrupted/)],
    });
  });
});

describe('a permission of a coding agent', () => {
  it('ends the program where nobody answers soon', async () => {
    const run = new Run('own');
    const { asked, output } = await run.attempt('ask one', undefined, { askFor: () => Promise.resolve(null) });
    expect([asked?.permissions.asked.tool, output]).toEqual(['Bash', null]);
    expect((await run.attempt('ask one', 'approve')).output).toMatchObject({ decisions: [{ behavior: 'allow' }] });
  });

  it('may be refused, or not be given in time', async () => {
    for (const [answer, message] of [
      ['refuse', 'A person refused it'],
      [null, 'Nobody answered in time'],
    ] as const) {
      const run = new Run('own');
      await run.attempt('ask rm x');
      const { output } = await run.attempt('ask rm x', answer);
      expect(output).toMatchObject({ files: [], decisions: [{ behavior: 'deny', message: expect.stringContaining(message) }] });
    }
  });
});

describe('a permission', () => {
  it('is asked for each input, and is for all of a tool where a person says so', async () => {
    const run = new Run('own');
    const input = 'ask one then one then two then three then four';
    expect((await run.attempt(input)).asked?.suspend.ask.question).toContain('"one"');
    // The second "one" is allowed by the same answer.
    expect((await run.attempt(input, 'approve')).asked?.suspend.ask.question).toContain('"two"');
    expect((await run.attempt(input, 'refuse')).asked?.suspend.ask.question).toContain('"three"');
    const { asked, output } = await run.attempt(input, 'approve Bash for this task');
    expect(asked).toBeNull();
    expect(output).toMatchObject({ decisions: [{ behavior: 'allow' }, { behavior: 'allow' }] });
  });

  it('is told of also where another turn of the session came between', async () => {
    const run = new Run('own');
    await run.attempt('ask one');
    const { output } = await run.attempt('ask one', 'approve', { isOfTask: false });
    expect(output).toMatchObject({
      turns: ['ask one', expect.stringMatching(/^You asked whether you may use Bash, and a person allowed it/)],
    });
  });

  it('is shown in full, or with how much is not shown', async () => {
    const { asked } = await new Run('own').attempt(`ask ${'x'.repeat(4000)}`);
    expect(asked?.suspend.ask.question).toMatch(/x…\n\(\d+ characters in all\)\nsha256/);
    expect(asked?.suspend.ask.question.length).toBeLessThan(3200);
  });

  it('is asked by Claude Code alone, and not where its command names a tool for that', () => {
    expect(isValid({ preset: 'claude-code' })).toBe(true);
    expect(isValid({ preset: 'claude-code', permissions: { by: 'others' } })).toBe(true);
    expect(isValid({ preset: 'codex' })).toBe(false);
    expect(isValid({ command: ['sh'] })).toBe(false);
    expect(isValid({ preset: 'claude-code', command: ['claude', '--permission-prompt-tool', 'mcp__x'] })).toBe(false);
  });
});
