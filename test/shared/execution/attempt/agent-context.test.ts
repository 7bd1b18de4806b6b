import { expect, it } from 'vitest';
import { AttemptContext } from '#shared/execution/attempt/agent-context.ts';

/** The context of an attempt that wrote so far. */
function contextOf(written: string[]): AttemptContext {
  const execution = {
    body: { id: 't', traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', session: null },
    attempt: { ref: { token: 1 }, signal: new AbortController().signal, takesInput: false },
    output: { write: (text: string) => written.push(text) },
    taskLog: { agentLog: { info: (text: string) => written.push(text) } },
    files: { attachments: [] },
  };
  return new AttemptContext({} as never, execution as never, { task: {} as never, given: [] });
}

it('an agent may take functions out of its context', async () => {
  const written: string[] = [];
  const { write, history, log, trace, signal } = contextOf(written);
  write('a');
  log.info('b');
  expect(written).toEqual(['a', 'b']);
  expect(trace.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)[\da-f]{16}-01$/);
  expect(signal.aborted).toBe(false);
  expect(await history()).toEqual([]);
});

it('has no getters of its own, which would keep its attempt in memory', () => {
  const own = Object.values(Object.getOwnPropertyDescriptors(contextOf([])));
  expect(own.filter((each) => 'get' in each)).toEqual([]);
});
