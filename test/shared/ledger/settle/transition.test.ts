import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { AttemptEnd } from '#shared/ledger/settle/attempt-end.ts';
import { decideTransition } from '#shared/ledger/settle/decide-transition.ts';
import { type Transition, transitionArguments } from '#shared/ledger/settle/transition.ts';
import { DONE, FAILURE, type Held, retry, TENANT } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();

const read = (path: string): string => readFileSync(new URL(`../../../../shared/ledger/${path}`, import.meta.url), 'utf8');
const scripts = ['settle-attempts', 'include/settle/batch', 'include/settle/continue', 'include/settle/leave-lanes'];
const lua = scripts.map((name) => read(`scripts/${name}.lua`).replaceAll(/--.*$/gm, '')).join('\n');
const typescript = read('settle/transition.ts');

/** Fields of a declared interface. */
function fieldsOf(name: string): string[] {
  const [, body = ''] = new RegExp(`interface ${name}\\b[^{]*\\{(.*?)\\n\\}`, 's').exec(typescript) ?? [];
  return [...body.matchAll(/^ {2}(\w+)\??:/gm)].map(([, field = '']) => field);
}

/** Fields that the scripts read of what has this name. */
function readOf(name: string): string[] {
  return [...new Set([...lua.matchAll(new RegExp(`\\b${name}\\.(\\w+)`, 'g'))].map(([, field = '']) => field))];
}

describe('the contract of a transition', () => {
  it.each([
    // The caller finds keys by `endedAt`; `granted_member` reads `class`, and an AttemptRef has the others.
    {
      name: 'Transition',
      as: 'transition',
      notRead: ['endedAt', 'class'],
      besides: ['id', 'token'],
      own: ['held', 'wait', 'passed', 'refusal', 'journal'],
    },
    { name: 'TaskEnd', as: 'ended', notRead: [], besides: [], own: ['code', 'id'] },
    { name: 'LostLease', as: 'transition.lost', notRead: [], besides: [], own: [] },
  ])('has each field of $name that the scripts read, and they read each', ({ name, as, notRead, besides, own }) => {
    const declared = new Set<string>([...fieldsOf(name), ...besides]).difference(new Set<string>(notRead));
    const used = new Set(readOf(as)).difference(new Set<string>(own));
    expect([...used].toSorted()).toEqual([...declared].toSorted());
  });
});

const decided = async (held: Held, end: AttemptEnd): Promise<Transition> => {
  const stored = (await test.redis.hget(test.keys.tenant(TENANT).states, held.id)) ?? '';
  const transition = decideTransition(held, end, { stored, first: held.state, now: Date.now() });
  if (!transition) throw new Error('The attempt is over');
  return transition;
};

describe('a transition as the script takes it', () => {
  it('has what may be long as texts of their own, and nothing of it in its JSON', async () => {
    const held = await test.claimed(await test.accepted());
    const long = 'x'.repeat(5000);
    const end = { ...retry(1000), error: { ...FAILURE, message: long, details: JSON.stringify({ long }) } };
    const ends: AttemptEnd[] = [end, { kind: 'completed', output: long, result: JSON.stringify({ long }) }];
    for (const each of ends) {
      const [head = '', , , seen, next, attempt, output, result] = transitionArguments(test.ledger.seal, await decided(held, each));
      expect(head.length).toBeLessThan(500);
      expect(`${next}${attempt}${output}${result}`).toContain(long);
      expect(seen).toBe(await test.redis.hget(test.keys.tenant(TENANT).states, held.id));
    }
  });

  it('is settled with a result that is deeper than Lua reads', async () => {
    const held = await test.claimed(await test.accepted());
    const result = `${'['.repeat(3000)}${']'.repeat(3000)}`;
    expect(await test.settle(held, { kind: 'completed', output: '', result })).toBe('completed');
    expect((await test.read(held.id)).result).toEqual(JSON.parse(result));
  });

  it('says of its events what each end means for the task', async () => {
    const held = await test.claimed(await test.accepted());
    expect(await decided(held, DONE)).toMatchObject({ continuation: 'end', events: ['task.completed'], attempt: '' });
    expect(await decided(held, retry(0))).toMatchObject({
      continuation: 'again',
      events: ['task.failed'],
      fact: { attempt: 1, code: FAILURE.code, willRetry: true },
    });
    expect(await decided(held, retry(50))).toMatchObject({ continuation: 'later', events: ['task.failed'], dueAt: expect.any(Number) });
    expect(await decided(held, retry(null))).toMatchObject({ continuation: 'end', events: ['task.failed', 'task.permanently_failed'] });
    expect(await decided(held, { kind: 'interrupted', reason: 'lost', delayMs: 0, losses: 0 })).toMatchObject({ continuation: 'again' });
  });
});
