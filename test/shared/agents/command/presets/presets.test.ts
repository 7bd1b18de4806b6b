import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DefinitionOf } from '#shared/agents/agent-kind.ts';
import { trackCommands } from '#shared/agents/command/processes/attempt-processes.ts';
import { runCommand } from '#shared/agents/command/run-command.ts';
import { openCgroups } from '#shared/agents/command/processes/cgroup.ts';
import { readVariables } from '#shared/agents/command/start/command-environment.ts';
import { agentDefinitionSchema, type CommandPreset } from '#shared/config/agent-definitions.ts';
import { commandSettingsSchema } from '#shared/config/settings/worker-settings.ts';
import type { AgentResult } from '#shared/config/define-config.ts';
import { type AgentRunOptions, failureOf, type ObservedRun, observeRun } from '../../../../support/agents/agent-run.ts';
import { childEnvironment } from '../../../../support/test-environment.ts';
import { useFolder } from '../../../../support/use-folder.ts';

const directory = await useFolder('muster-presets-');

type Observed = ObservedRun<DefinitionOf<'command'>>;

/** What the real programs wrote, in front of a model server that always answers the same. */
const transcript = (name: string): string => join(import.meta.dirname, 'transcripts', `${name}.jsonl`);

/** An agent of this preset, whose program is a script that has the arguments and stdin that it got in files. */
async function usePreset(
  preset: CommandPreset,
  script: string,
  options: AgentRunOptions & Partial<DefinitionOf<'command'>> = {},
): Promise<Observed> {
  const { task, onWrite, ...definition } = options;
  const program = join(directory, `${preset}-${Math.random()}`);
  await writeFile(program, `#!/bin/sh\nprintf '%s\\n' "$@" > "${program}.args"\n${script}\n`);
  await chmod(program, 0o755);
  return observeRun<'command'>(
    { kind: 'command', preset, command: [program, '--own'], ...definition },
    { ...(task && { task }), ...(onWrite && { onWrite }) },
  );
}

function attempt({ run }: Observed): Promise<AgentResult> {
  const settings = commandSettingsSchema.parse({ killGraceMs: 100, pollMs: 50 });
  return runCommand(run, {
    directory,
    variables: readVariables(run.definition, (name) => childEnvironment()[name]),
    running: trackCommands(settings.pollMs),
    fleetId: () => Promise.resolve('f'),
    settings,
    cgroups: openCgroups(settings.cgroup),
    users: () => Promise.resolve(null),
    turn: null,
  });
}

async function argsOf({ run }: Observed): Promise<string[]> {
  const [program = ''] = run.definition.command ?? [];
  return (await readFile(`${program}.args`, 'utf8')).trim().split('\n');
}

/** A message, as Claude Code reads it from its stdin. */
const sent = (content: string): string => JSON.stringify({ type: 'user', message: { role: 'user', content } });

const ANSWER = 'The notes say "buy milk".';

describe('the preset claude-code', () => {
  it('streams the text of both messages, notes its tools, reports each call, and answers with the results', async () => {
    const observed = await usePreset('claude-code', `cat > /dev/null; cat "${transcript('claude-code-two-messages')}"`);
    const answer = await attempt(observed);
    expect(await argsOf(observed)).toEqual(['--own', '-p', '--output-format', 'stream-json', '--include-partial-messages', '--verbose']);
    expect(observed.written.join('')).toBe(`I will read the notes.\n\n${ANSWER}\n\n${ANSWER}\n\n`);
    expect(observed.notes).toEqual(['Read: /srv/notes/notes.txt']);
    const call = { model: 'claude-opus-5-5', inputTokens: 1212, cachedInputTokens: 1000, outputTokens: 30 };
    expect(observed.usages).toEqual([call, call, call]);
    expect(answer).toEqual({
      output: `${ANSWER}\n\n${ANSWER}`,
      usage: { model: 'claude-opus-5-5', inputTokens: 3636, cachedInputTokens: 3000, outputTokens: 90, costMicroUsd: 5544 },
    });
  });

  it('reads messages in one piece from a version that sends no parts', async () => {
    const observed = await usePreset('claude-code', `cat "${transcript('claude-code-without-parts')}"`);
    expect(await attempt(observed)).toMatchObject({ output: ANSWER, usage: { inputTokens: 2424, outputTokens: 60, costMicroUsd: 3696 } });
    expect(observed.written.join('')).toBe(`I will read the notes.\n\n${ANSWER}\n\n`);
  });

  it('fails for good when its provider refuses the key, also if its exit code is 0', async () => {
    for (const code of [0, 1]) {
      const observed = await usePreset('claude-code', `cat "${transcript('claude-code-refused')}"; exit ${code}`);
      expect(await failureOf(attempt(observed))).toMatchObject({
        code: 'PERMISSION_DENIED',
        message: 'Invalid API key · Fix external API key',
        details: { status: 401 },
      });
      expect(observed.notes).toEqual(['The provider is called again: authentication_failed 401']);
    }
  });

  it('gets each message as a line of JSON while it runs, and the end of its stdin once it has answered all', async () => {
    const result = '{"type":"result","subtype":"success","is_error":false,"result":"read"}';
    const delta = '{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"up"}}}';
    const script = `read -r one; echo '${delta}'; read -r two; printf '%s\\n' "$one" "$two" >&2; echo '${result}'; echo '${result}'; cat; exit 3`;
    const observed = await usePreset('claude-code', script, { takesInput: true, inputIdleMs: 60_000, task: { input: 'two\nlines' } });
    const running = failureOf(attempt(observed));
    await observed.firstWrite;
    observed.say('more');
    const { details } = await running;
    expect(details).toEqual({ exitCode: 3, signal: null });
    expect(observed.diagnostics.stderr).toBe(`${sent('two\nlines')}\n${sent('more')}\n`);
    expect((await argsOf(observed)).slice(-2)).toEqual(['--input-format', 'stream-json']);
  });

  it('shows what a program writes that is no event', async () => {
    const observed = await usePreset('claude-code', `echo 'Please log in'; echo '{"type":"later"}'; echo '{broken'`);
    expect(await attempt(observed)).toEqual({});
    expect(observed.written.join('')).toBe('Please log in\n');
  });
});

describe('the preset codex', () => {
  it('answers with its last message, and reports the usage of its turn', async () => {
    const observed = await usePreset('codex', `cat; cat "${transcript('codex')}"`, { task: { input: '' } });
    expect(await attempt(observed)).toEqual({ output: ANSWER });
    expect(await argsOf(observed)).toEqual(['--own', 'exec', '--json', '--skip-git-repo-check', '-']);
    expect(observed.usages).toEqual([{ inputTokens: 1200, cachedInputTokens: 1000, outputTokens: 30, reasoningTokens: 10 }]);
  });

  it('notes commands, files and calls of tools', async () => {
    const items = [
      {
        type: 'item.started',
        item: { id: 'item_0', type: 'command_execution', command: "bash -lc 'cat notes.txt'", status: 'in_progress' },
      },
      { type: 'item.completed', item: { id: 'item_0', type: 'command_execution', command: "bash -lc 'cat notes.txt'", exit_code: 0 } },
      { type: 'item.completed', item: { id: 'item_1', type: 'file_change', changes: [{ path: 'notes.txt', kind: 'update' }] } },
      { type: 'item.started', item: { id: 'item_2', type: 'mcp_tool_call', server: 'docs', tool: 'search' } },
      { type: 'item.completed', item: { id: 'item_3', type: 'reasoning', text: 'hm' } },
      { type: 'error', message: 'Reconnecting... 1/5' },
    ];
    const file = join(directory, 'items.jsonl');
    await writeFile(file, items.map((item) => `${JSON.stringify(item)}\n`).join(''));
    const observed = await usePreset('codex', `cat "${file}" "${transcript('codex')}"`);
    expect(await attempt(observed)).toEqual({ output: ANSWER });
    expect(observed.notes).toEqual(["$ bash -lc 'cat notes.txt'", 'update: notes.txt', 'docs.search', 'Reconnecting... 1/5']);
  });

  it('fails with the status that its message names', async () => {
    const observed = await usePreset('codex', `cat "${transcript('codex-refused')}"; exit 1`);
    expect(await failureOf(attempt(observed))).toMatchObject({ code: 'PERMISSION_DENIED', details: { status: 401 } });
  });
});

describe('the preset opencode', () => {
  it('answers with the text of its last step, and reports each step', async () => {
    const observed = await usePreset('opencode', `cat > /dev/null; cat "${transcript('opencode')}"`);
    expect(await attempt(observed)).toEqual({ output: ANSWER });
    expect(await argsOf(observed)).toEqual(['--own', 'run', '--format', 'json']);
    expect(observed.written.join('')).toBe(`I will read the notes.\n\n${ANSWER}\n\n`);
    expect(observed.notes).toEqual(['read: srv/notes/notes.txt']);
    const step = { inputTokens: 1200, cachedInputTokens: 1000, outputTokens: 30, reasoningTokens: 10 };
    expect(observed.usages).toEqual([step, step]);
  });

  it('fails with the status of its provider', async () => {
    const observed = await usePreset('opencode', `cat "${transcript('opencode-refused')}"; exit 1`);
    expect(await failureOf(attempt(observed))).toMatchObject({ code: 'PERMISSION_DENIED', message: 'invalid x-api-key' });
  });
});

describe('the preset aider', () => {
  it('gets its prompt in a file, keeps its notes apart from its answer, and reports its rounded figures as estimates', async () => {
    const lines = [
      'Aider v0.86.1',
      'Main model: gpt-5 with diff edit format',
      'Git repo: none',
      'Repo-map: disabled',
      'I changed the greeting.',
      'Applied edit to hello.py',
      'Tokens: 2.1k sent, 1.0k cache hit, 133 received. Cost: $0.04 message, $0.10 session.',
    ];
    const script = `for file; do :; done; cat "$file" >&2; cat >&2; printf '%s\\n' ${lines.map((line) => `'${line.replaceAll("'", '')}'`).join(' ')}`;
    const observed = await usePreset('aider', `${script}; exit 0`, { task: { input: 'change the greeting' } });
    expect(await attempt(observed)).toEqual({});
    expect(observed.diagnostics.stderr).toBe('change the greeting');
    expect((await argsOf(observed)).slice(0, -1)).toEqual(expect.arrayContaining(['--own', '--yes-always', '--message-file']));
    expect(observed.written.join('')).toBe('I changed the greeting.\n');
    expect(observed.notes).toEqual([...lines.slice(0, 4), 'Applied edit to hello.py']);
    const used = { model: 'gpt-5', inputTokens: 2100, cachedInputTokens: 1000, outputTokens: 133, costMicroUsd: 40_000, isEstimated: true };
    expect(observed.usages).toEqual([used]);
  });
});

describe('a transcript', () => {
  it('is read by lines, wherever the pieces end', async () => {
    const script = `while IFS= read -r line; do printf '%s' "$line" | cut -c1-40 | tr -d '\\n'; sleep 0.01; printf '%s\\n' "$line" | cut -c41-; done < "${transcript('codex')}"`;
    const observed = await usePreset('codex', script);
    expect(await attempt(observed)).toEqual({ output: ANSWER });
  });

  it('may have a line that is too long, which is passed over', async () => {
    const long = `head -c 17000000 /dev/zero | tr '\\0' x; echo`;
    const observed = await usePreset('codex', `${long}; cat "${transcript('codex')}"`);
    expect(await attempt(observed)).toEqual({ output: ANSWER });
    expect(observed.written.join('')).toBe(`${ANSWER}\n\n`);
  });

  it('ends its program when the output is too long', async () => {
    const observed = await usePreset('opencode', `cat "${transcript('opencode')}"; sleep 600`, {
      onWrite: () => {
        throw new Error('too long');
      },
    });
    await expect(attempt(observed)).rejects.toThrow('too long');
  });
});

describe('the arguments of a command', () => {
  it('have the prompt where they ask for it, and then its stdin is empty', async () => {
    const definition = { kind: 'command' as const, command: ['sh', '-c', 'printf "%s|" "$@"; cat', 'sh', '{prompt}', '{prompt}!'] };
    const observed = observeRun<'command'>(definition, { task: { input: '$(id) "two" words' } });
    await attempt(observed);
    expect(observed.written.join('')).toBe('$(id) "two" words|{prompt}!|');
  });
});

function isValid(definition: object): boolean {
  return agentDefinitionSchema.safeParse({ kind: 'command', ...definition }).success;
}

describe('the definition of a command agent', () => {
  it('needs a command or a preset, and takes input only by a preset that can', () => {
    expect(isValid({})).toBe(false);
    expect(isValid({ command: ['true'], takesInput: true })).toBe(true);
    expect(isValid({ preset: 'claude-code', takesInput: true })).toBe(true);
    expect(isValid({ preset: 'aider', takesInput: true })).toBe(false);
    expect(isValid({ preset: 'unknown' })).toBe(false);
  });
});
