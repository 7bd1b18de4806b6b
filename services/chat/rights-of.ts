import { CHAT_RIGHTS, type ChatAccess, type ChatPlatformName, type ChatRight } from '#shared/config/index.ts';

interface Sender {
  user: string;
  channel: string;
}

/** What a person may do in a place: what any rule of the platform that fits both allows; everything where the platform has no rules. */
export function rightsOf(access: ChatAccess, platform: ChatPlatformName, { user, channel }: Sender): ReadonlySet<ChatRight> {
  const rules = access[platform];
  if (rules === undefined) return new Set(CHAT_RIGHTS);
  const fitting = rules.filter(({ users, channels }) => includes(users, user) && includes(channels, channel));
  return new Set(fitting.flatMap(({ may }) => may));
}

/** A rule that names none means all. */
function includes(names: readonly string[] | undefined, name: string): boolean {
  return names === undefined || names.includes(name);
}
