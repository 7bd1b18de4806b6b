import { describe, expect, it } from 'vitest';
import { chatPlatforms, CHAT_PLATFORMS } from '#shared/config/chat.ts';
import { loadConfig } from '#shared/config/load-config.ts';
import { hasCode, type MusterError } from '#shared/errors/error-codes.ts';

const SECRETS: Readonly<Record<(typeof CHAT_PLATFORMS)[number], Record<string, string>>> = {
  telegram: { TELEGRAM_BOT_TOKEN: '1:a', TELEGRAM_WEBHOOK_SECRET: 's' },
  slack: { SLACK_BOT_TOKEN: 'xoxb', SLACK_SIGNING_SECRET: 's' },
  discord: { DISCORD_BOT_TOKEN: 'b', DISCORD_PUBLIC_KEY: 'ab'.repeat(32), DISCORD_APPLICATION_ID: '1' },
  whatsapp: { WHATSAPP_ACCESS_TOKEN: 'a', WHATSAPP_APP_SECRET: 's', WHATSAPP_PHONE_NUMBER_ID: '1', WHATSAPP_VERIFY_TOKEN: 'v' },
};

/** A folder without a configuration file. */
const load = async (variables: Record<string, string>): ReturnType<typeof loadConfig> => await loadConfig(variables, import.meta.dirname);

async function problemsOf(variables: Record<string, string>): Promise<unknown> {
  const error = await load(variables).catch((problem: unknown) => problem);
  expect(hasCode(error, 'config.invalid')).toBe(true);
  return (error as MusterError).details?.['problems'];
}

describe('a chat platform', () => {
  it('is off without any of its secrets', async () => {
    expect(chatPlatforms((await load({})).env)).toEqual([]);
  });

  it.each(CHAT_PLATFORMS)('%s is on with all of its secrets', async (name) => {
    expect(chatPlatforms((await load(SECRETS[name])).env)).toEqual([name]);
  });

  it.each(CHAT_PLATFORMS.flatMap((name) => Object.keys(SECRETS[name]).map((missing) => [name, missing] as const)))(
    '%s without %s keeps everything from starting, and the message names it',
    async (name, missing) => {
      const { [missing]: _left, ...rest } = SECRETS[name];
      expect(await problemsOf(rest)).toEqual([expect.stringContaining(`half configured: set ${missing} too`)]);
    },
  );

  it('is told of in one message with the others', async () => {
    const problems = await problemsOf({ TELEGRAM_BOT_TOKEN: '1:a', DISCORD_APPLICATION_ID: '1' });
    expect(problems).toEqual([
      expect.stringContaining('TELEGRAM_WEBHOOK_SECRET'),
      expect.stringContaining('DISCORD_BOT_TOKEN and DISCORD_PUBLIC_KEY'),
    ]);
  });

  it('is told of together with variables that are wrong, one of its own among them', async () => {
    const problems = await problemsOf({
      PORT: 'http',
      DISCORD_PUBLIC_KEY: 'short',
      DISCORD_APPLICATION_ID: '1',
      TELEGRAM_BOT_TOKEN: '1:a',
    });
    expect(problems).toEqual([
      expect.stringContaining('environment: PORT: '),
      expect.stringContaining('environment: DISCORD_PUBLIC_KEY: '),
      expect.stringContaining('half configured: set TELEGRAM_WEBHOOK_SECRET too'),
      expect.stringContaining('half configured: set DISCORD_BOT_TOKEN too'),
    ]);
  });

  it('counts an empty secret as none, as compose and Kubernetes write it', async () => {
    expect(chatPlatforms((await load({ ...SECRETS.slack, TELEGRAM_BOT_TOKEN: '' })).env)).toEqual(['slack']);
  });
});
