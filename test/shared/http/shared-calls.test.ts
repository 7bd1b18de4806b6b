import { describe, expect, it } from 'vitest';
import { SharedCalls } from '#shared/http/shared-calls.ts';

interface Run {
  readonly name: string;
  readonly count: number;
  readonly answer: (value: string) => void;
}

function open(): { calls: SharedCalls<string>; runs: Run[] } {
  const runs: Run[] = [];
  const run = async (name: string, count: number): Promise<string> =>
    await new Promise((resolve) => void runs.push({ name, count, answer: resolve }));
  return { calls: new SharedCalls(run), runs };
}

const turn = async (): Promise<void> => await new Promise((resolve) => void setImmediate(resolve));

describe('calls of one turn of the event loop', () => {
  it('share one run under one name, and each knows its place', async () => {
    const { calls, runs } = open();
    const all = ['a', 'b', 'a', 'a'].map((name) => calls.join(name));
    await turn();
    expect(runs.map(({ name, count }) => [name, count])).toEqual([
      ['a', 3],
      ['b', 1],
    ]);
    for (const { name, answer } of runs) answer(`of ${name}`);
    expect(await Promise.all(all)).toEqual([
      { answer: 'of a', place: 0 },
      { answer: 'of b', place: 0 },
      { answer: 'of a', place: 1 },
      { answer: 'of a', place: 2 },
    ]);
  });

  it('never get the answer of a run that began before them', async () => {
    const { calls, runs } = open();
    const before = calls.join('a');
    await turn();
    const after = calls.join('a');
    await turn();
    runs[0]?.answer('old');
    runs[1]?.answer('new');
    expect([(await before).answer, (await after).answer]).toEqual(['old', 'new']);
  });

  it('all fail with their run, and the next turn runs again', async () => {
    const failures = [new Error('away')];
    const calls = new SharedCalls(async () => {
      const failure = failures.pop();
      if (failure) throw failure;
      return await Promise.resolve('back');
    });
    await Promise.all([expect(calls.join('a')).rejects.toThrow('away'), expect(calls.join('a')).rejects.toThrow('away')]);
    expect((await calls.join('a')).answer).toBe('back');
  });
});
