import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { environmentSchema } from '#shared/config/environment.ts';
import { settingsSchema, type SettingsInput } from '#shared/config/settings.ts';
import { assertAgents } from '#shared/agents/assert-agents.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'muster-agents-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function assert(agents: SettingsInput['agents']): Promise<void> {
  const settings = settingsSchema.parse({ agents });
  await assertAgents({ settings, env: environmentSchema.parse({}), directory, readVariable: () => undefined });
}

test('a start is refused while agents could not run here, and every one of them is named', async () => {
  const started = assert({ scribe: { kind: 'function', file: './gone.ts' }, helper: { kind: 'openai', model: 'any' } });
  await expect(started).rejects.toMatchObject({
    code: 'config.invalid',
    message: expect.stringMatching(/2 problem\(s\)[^]*agents\.scribe: [^]*gone\.ts[^]*agents\.helper: /),
  });
});

test('agents that can run do not stand in the way of a start', async () => {
  await expect(assert({ echo: { kind: 'echo' } })).resolves.toBeUndefined();
});
