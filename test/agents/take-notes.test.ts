import { describe, expect, it } from 'vitest';
import { createFunctionLoader } from '#shared/agents/kinds/function.ts';
import { runFunction } from '#shared/agents/kinds/function.ts';
import { observeRun } from '../support/agents/agent-run.ts';

const definition = { kind: 'function', file: './agents/take-notes.ts', takesInput: true } as const;
const load = createFunctionLoader(process.cwd());

describe('the example that takes notes', () => {
  it('notes its prompt and the messages that arrive while it listens', async () => {
    const history = [{ taskId: '01JD0000000000000000000001', input: 'before', output: 'noted' }];
    const observed = observeRun<'function'>(definition, { history, task: { context: { listenMs: 60 } } });
    observed.say('and milk');
    expect(await runFunction(observed.run, load)).toEqual({ result: { notes: ['hello', 'and milk'] } });
    expect(observed.written.join('')).toBe('1 earlier turn(s). Noting.\n- somebody: and milk');
  });

  it('stops when it is told to', async () => {
    const observed = observeRun<'function'>(definition);
    const running = runFunction(observed.run, load);
    const reason = new Error('cancelled');
    await observed.firstWrite;
    observed.abort(reason);
    await expect(running).rejects.toBe(reason);
  });
});
