import { describe, expect, it } from 'vitest';
import { answererOf, refusalOf } from '#shared/waits/questions/answerer.ts';
import type { ApiKey } from '#shared/tenants/key-store.ts';

const key: ApiKey = { id: 'key_1', tenant: 'default', name: 'release-bot', scopes: ['answer'], createdAt: 1 };
const visitor: ApiKey = { ...key, id: 'key_2', name: 'anna@example.com', scopes: ['visit'], session: 's' };
const person: ApiKey = { ...key, id: 'oidc:7', name: 'Anna', person: { email: 'anna@example.com', roles: [] } };
const nobody = { keyId: null, user: null, isUserClaimed: null, visitor: null };

const mayAnswer = (
  by: ApiKey,
  to: string[] | null,
  { author = nobody, others = false }: { author?: object; others?: boolean } = {},
): boolean => refusalOf({ to, by: others ? 'others' : 'anyone' }, { ...nobody, ...author }, answererOf(by)) === null;

describe('who may answer a question', () => {
  it('is everyone with the scope where it names nobody, but no visitor', () => {
    expect([key, person, visitor].map((by) => mayAnswer(by, null))).toEqual([true, true, false]);
  });

  it('is who it names: a key by name or id, a person by e-mail address', () => {
    expect(mayAnswer(key, ['release-bot'])).toBe(true);
    expect(mayAnswer(key, ['somebody', 'key_1'])).toBe(true);
    expect(mayAnswer(person, ['anna@example.com'])).toBe(true);
    expect(mayAnswer(person, ['release-bot'])).toBe(false);
  });

  it('is nobody by a name that people give themselves', () => {
    expect(mayAnswer(person, ['Anna'])).toBe(false);
    expect(mayAnswer(visitor, ['anna@example.com'])).toBe(false);
    expect(mayAnswer(visitor, ['key_2'])).toBe(false);
  });

  it('is a visitor where it names visitors, or this one', () => {
    expect(mayAnswer(visitor, ['visitors'])).toBe(true);
    expect(mayAnswer(visitor, ['visitor:key_2'])).toBe(true);
    expect(mayAnswer(visitor, ['visitor:key_3'])).toBe(false);
    expect(mayAnswer(key, ['visitors'])).toBe(false);
  });

  it('is not the one who sent the task, where others are to', () => {
    expect(mayAnswer(key, null, { author: { keyId: 'key_1' }, others: true })).toBe(false);
    expect(mayAnswer(key, null, { author: { keyId: 'key_9' }, others: true })).toBe(true);
    expect(mayAnswer(person, null, { author: { user: 'anna@example.com' }, others: true })).toBe(false);
    expect(mayAnswer(visitor, ['visitors'], { author: { visitor: 'key_2' }, others: true })).toBe(false);
    expect(mayAnswer(key, null, { author: { keyId: 'key_1' } })).toBe(true);
  });
});
