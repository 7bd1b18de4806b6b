import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DefinitionOf } from '#shared/agents/agent-kind.ts';
import { agentDefinitionSchema } from '#shared/config/agent-definitions.ts';
import { codexServerWords } from '#shared/config/codex-words.ts';
import { failureOf } from '../../../../support/agents/agent-run.ts';
import { placeFakeCoders } from '../../../../support/agents/coding/fake-coders.ts';
import { COMMAND_USERS, PermissionRun } from '../../../../support/agents/coding/permission-run.ts';
import { useFolder } from '../../../../support/use-folder.ts';

const directory = await useFolder('muster-codex-');
await chmod(directory, 0o711);
await mkdir(join(directory, 'attempts'), { mode: 0o755 });
const { codexServer } = await placeFakeCoders(join(directory, 'bin'));

const openRun = (uid?: 'own', definition: Partial<DefinitionOf<'command'>> = {}): PermissionRun =>
  new PermissionRun({ directory, uid, definition: { preset: 'codex', command: codexServer, ...definition } });

const misbehave = (how: string, settings: { handshakeMs?: number } = {}): PermissionRun =>
  new PermissionRun({
    directory,
    uid: 'own',
    settings,
    definition: { preset: 'codex', command: [...codexServer, '-c', `fake=${how}`] },
  });

/** Answers each question with the next of these. */
const answering =
  (...answers: (string | null)[]) =>
  (): Promise<string | null> => {
    const answer = answers.shift() ?? null;
    return Promise.resolve(answer === null ? null : JSON.stringify(answer));
  };

const TRANSCRIPTS = join(import.meta.dirname, '../presets/transcripts');
const CALL = { model: 'gpt-6.2-sol', inputTokens: 100, outputTokens: 10, cachedInputTokens: 20, reasoningTokens: 3 };

const inputTokens = ({ observed }: PermissionRun): number => observed?.usages.reduce((sum, used) => sum + used.inputTokens, 0) ?? 0;

describe.each(COMMAND_USERS)('an approval of Codex, with commands.uid %s', (uid) => {
  it('is a question, and Codex goes on in its thread with the answer, though its folder is another one', async () => {
    const run = openRun(uid, { permissions: { to: ['ann'] } });
    const { asked, output } = await run.attempt('ask rm -rf build');
    expect(output).toBeNull();
    expect(asked?.suspend.ask).toEqual({
      question: expect.stringMatching(
        /^May the agent "tested" use shell with this\?\n\{\n {2}"command": "\/bin\/bash -lc 'rm -rf build'",\n {2}"cwd": "[^"]+"\n\}\nIt says: Needed for [^\n]+\nsha256 [0-9a-f]{64}$/,
      ),
      choices: ['approve', 'approve shell for this task', 'refuse'],
      to: ['ann'],
    });
    // It tells of the call of its model that asked when its turn is interrupted.
    expect(inputTokens(run)).toBe(100);
    const after = await run.attempt('ask rm -rf build', 'approve');
    expect(after.asked).toBeNull();
    expect(after.output).toMatchObject({
      turns: [
        'ask rm -rf build',
        expect.stringMatching(/^You asked whether you may use shell, and a person allowed it.*ask rm -rf build$/s),
      ],
      files: ['ran.txt'],
      decisions: ['accept'],
    });
    // What it had used before counts no more; one call is of an agent of its own.
    expect(inputTokens(run)).toBe(300);
  });
});

describe('an approval of Codex', () => {
  it('goes back to the program that runs, where the answer comes soon', async () => {
    const run = openRun('own', { command: [...codexServer, '--strict-config', '-a', 'untrusted', '--sandbox', 'workspace-write'] });
    const askFor = answering('approve', 'refuse', 'approve shell for this task');
    const { asked, output } = await run.attempt('ask one then one then two then three then four', undefined, { askFor });
    expect(asked).toBeNull();
    expect(output).toMatchObject({
      turns: ['ask one then one then two then three then four'],
      decisions: ['accept', 'accept', 'decline', 'accept', 'accept'],
      words: ['--strict-config', 'app-server'],
      said: { approvalPolicy: 'untrusted', sandbox: 'workspace-write', model: 'gpt-fake' },
    });
    expect(run.observed?.usages.every(({ model }) => model === 'gpt-fake')).toBe(true);
    expect(inputTokens(run)).toBe(700);
    expect(run.observed?.written.join('')).not.toContain('not for you');
  });

  it('may be refused, or not be given in time', async () => {
    for (const answer of ['refuse', null]) {
      const run = openRun('own');
      expect((await run.attempt('ask rm x', undefined, { askFor: answering(null) })).output).toBeNull();
      expect((await run.attempt('ask rm x', answer)).output).toMatchObject({ files: [], decisions: ['decline'] });
    }
  });

  it('in its sandbox allows nothing without it', async () => {
    const run = openRun('own');
    const questions: string[] = [];
    const askFor = (): Promise<string> => {
      questions.push(run.asked.suspend.ask.question);
      return Promise.resolve(JSON.stringify(questions.length === 1 ? 'approve' : 'refuse'));
    };
    expect((await run.attempt('ask fail', undefined, { askFor })).output).toMatchObject({ files: [], decisions: ['decline'] });
    expect(questions.map((question) => question.includes('"again": true'))).toEqual([false, true]);
  });

  it('is asked for files with what would be in them, and for tools of MCP with what they are called with', async () => {
    const files = openRun('own');
    const { asked } = await files.attempt('patch b.txt', undefined, { askFor: answering(null) });
    expect(asked?.suspend.ask.question).toMatch(/^May the agent "tested" use apply_patch with this\?.*\/b\.txt".*"diff": "hello\\n"/s);
    expect((await files.attempt('patch b.txt', 'approve')).output).toMatchObject({ files: ['b.txt'], decisions: ['accept'] });
    const tool = openRun('own');
    expect((await tool.attempt('tool wipe')).asked?.suspend.ask).toMatchObject({
      question: expect.stringMatching(/^May the agent "tested" use mcp__tools__wipe with this\?\n\{\n {2}"what": "disk"\n\}/),
    });
    expect((await tool.attempt('tool wipe', 'refuse')).output).toMatchObject({ decisions: ['decline'] });
  });
});

describe('Codex 0.171', () => {
  it('is asked, answered and read as it wrote it itself', async () => {
    const [transcript, received] = [join(TRANSCRIPTS, 'codex-app-server.jsonl'), join(directory, 'received.jsonl')];
    const replay = join(import.meta.dirname, '../../../../support/agents/coding/replay-codex-server.mjs');
    const run = new PermissionRun({
      directory,
      uid: 'own',
      definition: {
        preset: 'codex',
        command: [process.execPath, replay, '-c', `transcript=${transcript}`, '-c', `received=${received}`, '--sandbox', 'read-only'],
      },
    });
    const questions: string[] = [];
    const answers = answering('refuse', 'approve', 'approve');
    const askFor = (): Promise<string | null> => {
      questions.push(run.asked.suspend.ask.question);
      return answers();
    };
    const { output, asked } = await run.attempt('Read the notes.', undefined, { askFor });
    expect([output, asked]).toEqual([{ text: 'The notes say "buy milk".' }, null]);
    expect(questions).toEqual([
      expect.stringMatching(
        /use shell with this\?\n\{\n {2}"command": "\/bin\/bash -lc 'npm publish'".*\nIt says: The release is ready\n/s,
      ),
      expect.stringMatching(/use apply_patch with this\?.*notes\.txt.*"diff": "buy milk\\n"/s),
      expect.stringMatching(/use mcp__tools__wipe with this\?\n\{\n {2}"what": "disk"/),
    ]);
    expect(run.observed?.written.join('')).toBe('The notes say "buy milk".\n\n');
    expect(run.observed?.notes).toEqual(["$ /bin/bash -lc 'npm publish'", 'add: /srv/notes/notes.txt', 'tools.wipe']);
    expect(run.observed?.usages).toEqual([CALL, CALL, CALL, CALL]);
    expect(
      (await readFile(received, 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      { id: 1, method: 'initialize', params: expect.objectContaining({ clientInfo: { name: 'muster', title: 'Muster', version: '1' } }) },
      { method: 'initialized' },
      { id: 2, method: 'thread/start', params: { sandbox: 'read-only' } },
      {
        id: 3,
        method: 'turn/start',
        params: { threadId: expect.any(String), input: [{ type: 'text', text: 'Read the notes.', text_elements: [] }] },
      },
      { id: 0, result: { decision: 'decline' } },
      { id: 1, result: { decision: 'accept' } },
      { id: 2, result: { action: 'accept', content: {}, _meta: null } },
    ]);
  });
});

describe('Codex as a server', () => {
  it('is refused what nobody can answer or see, and goes on', async () => {
    const run = openRun('own');
    const { output, asked } = await run.attempt('strange', undefined, { askFor: answering('approve') });
    const [unknown, unclear] = [-32_601, -32_602];
    expect(output).toMatchObject({ decisions: [unknown, unknown, unclear, unknown, unclear, unclear, unclear, unknown] });
    expect(asked).toBeNull();
    expect(run.observed?.notes).toContain('refused item/tool/requestUserInput: nobody here answers that');
    expect(run.observed?.written.join('')).toContain('this is no message\n');
  });

  it('has people asked about no more than some of many requests, and is not held up by a line that is too long', async () => {
    const run = openRun('own');
    const { output } = await run.attempt('flood', undefined, { askFor: answering('approve shell for this task') });
    expect(output).toMatchObject({ decisions: [-32_602, 10] });
  });

  it('that is too old, has other methods or answers nothing ends with a code that says so', async () => {
    expect(await failureOf(misbehave('old').attempt('hello'))).toMatchObject({ code: 'COMMAND_UNSUPPORTED', class: 'permanent' });
    expect(await failureOf(misbehave('v1').attempt('hello'))).toMatchObject({ code: 'COMMAND_UNSUPPORTED' });
    const mute = await failureOf(misbehave('mute', { handshakeMs: 500 }).attempt('hello'));
    expect(mute).toMatchObject({ code: 'COMMAND_SILENT', message: 'Codex did not answer "initialize" within 500 ms' });
  });

  it('that fails has the code of its provider’s status', async () => {
    expect(await failureOf(openRun('own').attempt('fail'))).toMatchObject({ code: 'PERMISSION_DENIED', details: { status: 401 } });
  });
});

const problems = (command: string[]): string[] =>
  agentDefinitionSchema
    .safeParse({ kind: 'command', preset: 'codex', permissions: 'ask', command })
    .error?.issues.map(({ message }) => message) ?? [];

describe('the words of Codex', () => {
  it('are said of its thread or its configuration, and refused where they would be lost', () => {
    const given = ['npx', '@openai/codex', '-s', 'read-only', '--model=gpt-codex', '-c', 'a=1', '--enable', 'x'];
    expect(codexServerWords([...given, '-c', 'approval_policy="untrusted"'])).toEqual({
      words: ['npx', '@openai/codex', '-c', 'a=1', '--enable', 'x'],
      thread: { sandbox: 'read-only', model: 'gpt-codex', approvalPolicy: 'untrusted' },
      lost: undefined,
    });
    expect(problems(['codex', '-a', 'untrusted', '--sandbox', 'workspace-write'])).toEqual([]);
    for (const word of ['--profile', '--search', 'exec', 'resume', '{prompt}', '--dangerously-bypass-approvals-and-sandbox', '-s']) {
      expect(problems(['codex', word])).toEqual([expect.stringContaining(`knows no "${word}"`)]);
    }
    for (const words of [['-a', 'never'], ['--config', 'approval_policy="never"'], ['--config=approval_policy = never']]) {
      expect(problems(['codex', ...words])).toEqual([expect.stringContaining('asks for no permissions')]);
    }
  });
});
