import { describe, expect, it } from 'vitest';
import { type Candidate, chooseDaemon, hasRoomFor, isCapable } from '#shared/daemons/dispatch/choose-daemon.ts';
import { type Needs, needsKey, needsOf, parseNeeds } from '#shared/daemons/dispatch/needs.ts';
import { daemonState } from '../../../support/daemons/daemon-state.ts';

const NEEDS: Needs = {
  agent: 'coder',
  capabilities: [],
  target: null,
  excluded: [],
  memoryMb: 0,
  user: null,
  isCpuIntensive: false,
  isForDaemons: false,
};
const daemon = (id: string, state: Partial<Candidate['state']> = {}): Candidate => ({
  id,
  state: daemonState({ name: `name of ${id}`, capabilities: ['browser', 'code'], ...state }),
});

describe('a daemon can run a task', () => {
  it.each<[string, Partial<Needs>, Partial<Candidate['state']>, boolean]>([
    ['with all the capabilities that it needs', { capabilities: ['browser', 'code'] }, {}, true],
    ['not without one of them', { capabilities: ['browser', 'gpu'] }, {}, false],
    ['of its own user', { user: 'ann' }, { user: 'ann' }, true],
    ['not of another user', { user: 'bob' }, { user: 'ann' }, false],
    ['not of nobody, when it is one user’s', {}, { user: 'ann' }, false],
    ['of any user, when it is nobody’s', { user: 'bob' }, {}, true],
    ['whose agent it has', {}, { agents: ['coder'] }, true],
    ['not of an agent that it lacks', {}, { agents: ['writer'] }, false],
    ['for which it is the target by id', { target: 'd1' }, {}, true],
    ['for which it is the target by name', { target: 'name of d1' }, {}, true],
    ['not for another target', { target: 'd2' }, {}, false],
    ['not when it is excluded by id', { excluded: ['d1'] }, {}, false],
    ['not a task for daemons only, as a worker', { isForDaemons: true }, { isWorker: true }, false],
    ['any other, as a worker', {}, { isWorker: true }, true],
    ['not when it is excluded by name', { excluded: ['name of d1'] }, {}, false],
  ])('%s', (_what, needs, state, can) => {
    expect(isCapable(daemon('d1', state), { ...NEEDS, ...needs })).toBe(can);
  });

  it('now, with a free slot and enough memory', () => {
    expect(hasRoomFor(daemon('d1', { memoryMb: 512 }), { ...NEEDS, memoryMb: 512 })).toBe(true);
    expect(hasRoomFor(daemon('d1', { memoryMb: 511 }), { ...NEEDS, memoryMb: 512 })).toBe(false);
    expect(hasRoomFor(daemon('d1', { memoryMb: null }), { ...NEEDS, memoryMb: 512 })).toBe(true);
    expect(hasRoomFor(daemon('d1', { memoryMb: null, hasBeat: false }), { ...NEEDS, memoryMb: 512 })).toBe(false);
    expect(hasRoomFor(daemon('d1', { memoryMb: null, hasBeat: false }), NEEDS)).toBe(true);
    expect(hasRoomFor(daemon('d1', { running: 2 }), NEEDS)).toBe(false);
    expect(hasRoomFor(daemon('d1', { isDraining: true }), NEEDS)).toBe(false);
  });
});

const choose = (daemons: Candidate[], needs: Partial<Needs> = {}): string | undefined => chooseDaemon(daemons, { ...NEEDS, ...needs })?.id;

describe('of several daemons', () => {
  it('the less loaded one is chosen, when that differs by more than 0.2', () => {
    expect(choose([daemon('a', { load: 0.5, running: 0 }), daemon('b', { load: 0.29, running: 1 })])).toBe('b');
    expect(choose([daemon('a', { load: 0.5, running: 0 }), daemon('b', { load: 0.3, running: 1 })])).toBe('a');
  });

  it('the one with fewer tasks is chosen among the equally loaded', () => {
    expect(choose([daemon('a', { running: 1 }), daemon('b'), daemon('c', { running: 2 })])).toBe('b');
  });

  it('each is read once, however many there are', () => {
    let reads = 0;
    const daemons = Array.from({ length: 50 }, (_, at) => {
      const { id, state } = daemon(`d${50 - at}`, { running: at % 2 });
      return {
        id,
        get state() {
          reads += 1;
          return state;
        },
      };
    });
    expect(choose(daemons)).toBe('d10');
    expect(reads).toBe(daemons.length);
  });

  it('none is chosen when none fits', () => {
    expect(choose([daemon('a', { running: 2 }), daemon('b')], { capabilities: ['gpu'] })).toBeUndefined();
    expect(choose([])).toBeUndefined();
  });

  it('a CPU-intensive task avoids the machine that runs another one, unless there is no other', () => {
    const [a, b, c] = [
      daemon('a', { host: 'one' }),
      daemon('b', { host: 'one', cpuIntensive: 1 }),
      daemon('c', { host: 'two', running: 1 }),
    ];
    expect(choose([a, b, c], { isCpuIntensive: true })).toBe('c');
    expect(choose([a, b], { isCpuIntensive: true })).toBe('a');
    expect(choose([a, b, c])).toBe('a');
  });
});

const NOW = { now: 1000, isForDaemons: false };

describe('the needs of a task', () => {
  const body = {
    agent: 'coder',
    user: 'ann',
    requirements: { capabilities: ['gpu', 'browser'], excludedDaemons: ['x'], memoryMb: 4, cpuIntensive: true },
  };

  it('are those of its request, and exclude daemons that failed it until their time', () => {
    const { needs, until } = needsOf(body, { excluded: { d1: 2000, d2: 900 } }, { now: 1000, isForDaemons: true });
    expect(needs).toEqual({
      agent: 'coder',
      capabilities: ['browser', 'gpu'],
      target: null,
      excluded: ['d1', 'x'],
      memoryMb: 4,
      user: 'ann',
      isCpuIntensive: true,
      isForDaemons: true,
    });
    expect(until).toBe(2000);
    expect(needsOf(body, {}, NOW).until).toBeNull();
  });

  it('are the same text whatever the order in which they were named, and are read back from it', () => {
    const other = { ...body, requirements: { ...body.requirements, capabilities: ['browser', 'gpu'] } };
    const [one, two] = [needsOf(body, {}, NOW).needs, needsOf(other, {}, NOW).needs];
    expect(needsKey(one)).toBe(needsKey(two));
    expect(parseNeeds(needsKey(one))).toEqual(one);
    expect(parseNeeds(needsKey(NEEDS))).toEqual(NEEDS);
    expect(parseNeeds('{"z":1}')).toBeNull();
    expect(parseNeeds('no JSON')).toBeNull();
  });
});
