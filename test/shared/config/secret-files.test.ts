import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readCliEnvironment } from '#shared/config/cli-environment.ts';
import { loadConfig } from '#shared/config/load-config.ts';
import type { MusterError } from '#shared/errors/error-codes.ts';
import { useFolder } from '../../support/use-folder.ts';

const folder = await useFolder('muster-secret-files-');

async function fileOf(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

const problemsOf = async (variables: Record<string, string>): Promise<unknown> => {
  const error: unknown = await loadConfig(variables, folder).catch((problem: unknown) => problem);
  return (error as MusterError).details?.['problems'];
};

/** One line about the files of `REDIS_URL`, with why they cannot be used. */
function filesProblem(why: string): unknown {
  return [expect.stringMatching(`^environment: REDIS_URL: its cacert, cert and key cannot be used \\(${why}`)];
}

it('a secret is what its file says, without the line break at its end', async () => {
  const { env, readVariable } = await loadConfig(
    {
      REDIS_URL_FILE: await fileOf('redis', 'rediss://:pass@cache:6380\n'),
      MUSTER_ADMIN_KEY_FILE: await fileOf('key', 'a-key-of-an-administrator\r\n'),
      OPENAI_API_KEY_FILE: '',
    },
    folder,
  );
  expect(env).toMatchObject({ REDIS_URL: 'rediss://:pass@cache:6380', MUSTER_ADMIN_KEY: 'a-key-of-an-administrator' });
  expect(readVariable('REDIS_URL')).toBe('rediss://:pass@cache:6380');
  expect(env.OPENAI_API_KEY).toBeUndefined();
});

it('a secret that an agent names may be in a file, too', async () => {
  await fileOf('agents.mjs', "export default { agents: { a: { kind: 'openai', model: 'm', apiKeyEnv: 'ANTHROPIC_KEY' } } };");
  const { readVariable } = await loadConfig(
    { MUSTER_CONFIG: 'agents.mjs', ANTHROPIC_KEY_FILE: await fileOf('model', 'sk-from-a-file') },
    folder,
  );
  expect(readVariable('ANTHROPIC_KEY')).toBe('sk-from-a-file');
});

it('a file that is missing, empty, too large or given beside the secret itself is a problem, and none shows a secret', async () => {
  const [empty, large] = [await fileOf('empty', '\n'), await fileOf('large', 'x'.repeat(70_000))];
  const missing = join(folder, 'missing');
  expect(
    await problemsOf({
      REDIS_URL_FILE: missing,
      MUSTER_ADMIN_KEY_FILE: empty,
      MUSTER_SEAL_KEY_FILE: large,
      OPENAI_API_KEY: 'sk-in-the-environment',
      OPENAI_API_KEY_FILE: missing,
      MUSTER_S3_SECRET_KEY_FILE: folder,
    }),
  ).toEqual([
    `environment: REDIS_URL_FILE: ${missing} cannot be read (ENOENT)`,
    `environment: MUSTER_ADMIN_KEY_FILE: there is nothing in ${empty}`,
    `environment: MUSTER_S3_SECRET_KEY_FILE: ${folder} cannot be read (EISDIR)`,
    `environment: MUSTER_SEAL_KEY_FILE: expected a file of at most 65536 bytes at ${large}`,
    'environment: OPENAI_API_KEY_FILE: OPENAI_API_KEY is set, too: leave one of them out',
  ]);
});

it('the files of a REDIS_URL have to be there and to be certificates, and a certificate needs its key', async () => {
  const text = await fileOf('client.crt', 'no certificate');
  const missing = join(folder, 'ca.crt');
  expect(await problemsOf({ REDIS_URL: `rediss://cache?cacert=${missing}` })).toEqual(filesProblem(`ENOENT.*${missing}`));
  expect(await problemsOf({ REDIS_URL: `rediss+cluster://one,two?cert=${text}` })).toEqual(filesProblem('cert and key go together'));
  expect(await problemsOf({ REDIS_URL: `rediss+sentinel://one?cert=${text}&key=${text}` })).toEqual(filesProblem('.*PEM'));
});

it('the command line reads its key and a daemon its token in the same way', async () => {
  const path = await fileOf('api-key', 'mk_from_a_file\n');
  expect(readCliEnvironment({ MUSTER_API_KEY_FILE: path, MUSTER_DAEMON_TOKEN_FILE: path })).toMatchObject({
    MUSTER_API_KEY: 'mk_from_a_file',
    MUSTER_DAEMON_TOKEN: 'mk_from_a_file',
  });
  expect(() => readCliEnvironment({ MUSTER_API_KEY_FILE: '/nowhere' })).toThrow('MUSTER_API_KEY_FILE');
});
