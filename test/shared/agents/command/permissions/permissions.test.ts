import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DefinitionOf } from '#shared/agents/agent-kind.ts';
import { callDigest } from '#shared/agents/command/permissions/call-digest.ts';
import { agentDefinitionSchema } from '#shared/config/agent-definitions.ts';
import { placeFakeCoders } from '../../../../support/agents/coding/fake-coders.ts';
import { COMMAND_USERS, PermissionRun } from '../../../../support/agents/coding/permission-run.ts';
import { useFolder } from '../../../../support/use-folder.ts';

const directory = await useFolder('muster-permissions-');
await chmod(directory, 0o711);
await mkdir(join(directory, 'attempts'), { mode: 0o755 });
const { claude } = await placeFakeCoders(join(directory, 'bin'));

const isValid = (given: object): boolean => agentDefinitionSchema.safeParse({ kind: 'command', permissions: 'ask', ...given }).success;

const digest = (path: string, folder: string): string => callDigest('Write', { files: [{ file_path: path }] }, folder);

const openRun = (uid?: 'own', definition: Partial<DefinitionOf<'command'>> = {}): PermissionRun =>
  new PermissionRun({ directory, uid, definition: { preset: 'claude-code', command: claude, ...definition } });

describe.each(COMMAND_USERS)('the permission of a coding agent, with commands.uid %s', (uid) => {
  it('is a question, and the agent goes on in its session with the answer', async () => {
    const run = openRun(uid, { permissions: { to: ['ann'], timeoutMs: '2 days' } });
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

describe.each(COMMAND_USERS)('an answer that comes soon, with commands.uid %s', (uid) => {
  it('reaches the program, which goes on as it is', async () => {
    const run = openRun(uid);
    const [questions, answers] = [[] as string[], ['approve', 'refuse', 'approve Bash for this task']];
    const askFor = (): Promise<string> => {
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
    const run = openRun('own');
    const { asked, output } = await run.attempt('ask one', undefined, { askFor: () => Promise.resolve(null) });
    expect([asked?.permissions.asked.tool, output]).toEqual(['Bash', null]);
    expect((await run.attempt('ask one', 'approve')).output).toMatchObject({ decisions: [{ behavior: 'allow' }] });
  });

  it('may be refused, or not be given in time', async () => {
    for (const [answer, message] of [
      ['refuse', 'A person refused it'],
      [null, 'Nobody answered in time'],
    ] as const) {
      const run = openRun('own');
      await run.attempt('ask rm x');
      const { output } = await run.attempt('ask rm x', answer);
      expect(output).toMatchObject({ files: [], decisions: [{ behavior: 'deny', message: expect.stringContaining(message) }] });
    }
  });
});

describe('a permission', () => {
  it('is asked for each input, and is for all of a tool where a person says so', async () => {
    const run = openRun('own');
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
    const run = openRun('own');
    await run.attempt('ask one');
    const { output } = await run.attempt('ask one', 'approve', { isOfTask: false });
    expect(output).toMatchObject({
      turns: ['ask one', expect.stringMatching(/^You asked whether you may use Bash, and a person allowed it/)],
    });
  });

  it('is the same wherever the attempt has its folder, and is another one in any other folder', () => {
    expect(digest('/tmp/a-1/work/x', '/tmp/a-1')).toBe(digest('/tmp/a-2/work/x', '/tmp/a-2'));
    expect(digest('/tmp/a-1/work/x', '/tmp/a-1')).not.toBe(digest('/tmp/a-1/work/x', '/tmp/a-2'));
  });

  it('is shown in full, or with how much is not shown', async () => {
    const { asked } = await openRun('own').attempt(`ask ${'x'.repeat(4000)}`);
    expect(asked?.suspend.ask.question).toMatch(/x…\n\(\d+ characters in all\)\nsha256/);
    expect(asked?.suspend.ask.question.length).toBeLessThan(3200);
  });

  it('is asked by coding agents that can, and not where the command of Claude Code names a tool for that', () => {
    expect(isValid({ preset: 'claude-code' })).toBe(true);
    expect(isValid({ preset: 'claude-code', permissions: { by: 'others' } })).toBe(true);
    expect(isValid({ preset: 'codex' })).toBe(true);
    expect(isValid({ preset: 'aider' })).toBe(false);
    expect(isValid({ command: ['sh'] })).toBe(false);
    expect(isValid({ preset: 'claude-code', command: ['claude', '--permission-prompt-tool', 'mcp__x'] })).toBe(false);
  });
});
