import { expect, it } from 'vitest';
import { commandUserProblem, commandUsers } from '#shared/agents/command/users/command-user.ts';

const ALL = '         0          0 4294967295';
const CONTAINER = '         0     100000      65536';
const ROOTLESS = '         0       1000          1';
const USERS = { first: 5000, count: 10 };
const each = { kind: 'each', gid: undefined };

it.each([
  ['root on Linux', { ownUid: 0 }, {}, { ...each, first: 66_000, count: 32_000, isDefault: true }],
  ['root in a container of 65,536 users', { ownUid: 0, uidMap: CONTAINER }, {}, { ...each, first: 60_706, count: 478, isDefault: true }],
  ['root in a container of one user', { ownUid: 0, uidMap: ROOTLESS }, {}, { kind: 'one', user: { uid: 65_534, gid: 65_534 } }],
  ['root on macOS', { ownUid: 0, platform: 'darwin' }, {}, { kind: 'one', user: { uid: 65_534, gid: 65_534 } }],
  ['root with a range', { ownUid: 0 }, { users: USERS, gid: 7 }, { ...each, ...USERS, gid: 7, isDefault: false }],
  ['root with one user', { ownUid: 0 }, { users: USERS, uid: 1234 }, { kind: 'one', user: { uid: 1234, gid: 1234 } }],
  ['root that keeps its own', { ownUid: 0 }, { uid: 'own' }, { kind: 'own' }],
  ['another user', { ownUid: 1000 }, {}, { kind: 'own' }],
  ['a user that is named', { ownUid: 1000 }, { uid: 1000 }, { kind: 'own' }],
] as const)('programs of %s run as whom the settings and the system say', (_who, system, settings, users) => {
  expect(
    commandUsers({ uid: undefined, gid: undefined, users: undefined, ...settings }, { platform: 'linux', uidMap: ALL, ...system }),
  ).toEqual(users);
});

it.each([
  [{ ownUid: 1000 }, 'commands.users names users, and only root can start programs as another user than its own (1000)'],
  [{ ownUid: 0, platform: 'darwin' }, 'commands.users names users, which attempts can have on Linux only (this is darwin)'],
  [{ ownUid: 0, uidMap: ROOTLESS }, 'commands.users names users from 5000 to 5009, and not all of them exist in this container'],
  [{ ownUid: 0 }, null],
] as const)('users that attempts cannot have are a problem: %j', (given, problem) => {
  const system = { platform: 'linux', uidMap: ALL, ...given } as const;
  expect(commandUserProblem(commandUsers({ uid: undefined, gid: undefined, users: USERS }, system), system)).toBe(problem);
});
