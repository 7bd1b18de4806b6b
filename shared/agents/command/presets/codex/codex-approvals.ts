import { z } from 'zod';
import type { PermissionRequest } from '../../permissions/permissions.ts';

// The forms of Codex 0.171, in which those of 0.110 are too: `codex app-server generate-ts` writes them.

/** A change of one file. */
export const changesSchema = z.array(z.object({ path: z.string(), kind: z.unknown(), diff: z.string() })).max(1000);
export type FileChanges = z.infer<typeof changesSchema>;

const reason = z.string().nullish().catch(null);

const commandSchema = z.object({
  itemId: z.string(),
  /** That of older versions is `command`. */
  kind: z.string().optional(),
  command: z.string().nullish(),
  cwd: z.string().nullish(),
  /** Instead of a command, or besides. */
  networkApprovalContext: z.object({ host: z.string(), protocol: z.unknown().optional() }).nullish(),
  additionalPermissions: z.unknown().optional(),
  reason,
});

const filesSchema = z.object({ itemId: z.string(), grantRoot: z.string().nullish(), reason });

const profileSchema = z.object({ cwd: z.string().nullish(), permissions: z.record(z.string(), z.unknown()), reason });

/** Servers of MCP may ask for anything; whether a tool may be used asks Codex itself. */
const toolSchema = z.object({
  serverName: z.string().min(1).max(100),
  _meta: z.object({
    codex_approval_kind: z.literal('mcp_tool_call'),
    tool_name: z.string().min(1).max(90),
    tool_params: z.unknown().optional(),
  }),
});

/** A request of Codex for an approval. */
export interface CodexApproval {
  readonly request: PermissionRequest;
  /** What it is answered. */
  readonly answer: (isAllowed: boolean) => object;
}

/** What was said before. */
export interface ApprovalContext {
  readonly changesOf: (item: string) => FileChanges | undefined;
  /**
   * Whether it has asked for this before. When it asks for the same again, it has failed in its sandbox and would run without: nobody has allowed that yet,
   * and nothing else says so.
   */
  readonly isAgain: (asked: string) => boolean;
}

type ReadApproval = (params: unknown, context: ApprovalContext) => CodexApproval | null;

/** Each request that people can decide; what is in none of these forms they are not asked. */
export const APPROVALS: Readonly<Record<string, ReadApproval>> = {
  'item/commandExecution/requestApproval': (params, { isAgain }) => {
    const read = commandSchema.safeParse(params);
    if (!read.success) return null;
    const { itemId, kind, command, cwd, networkApprovalContext: network, additionalPermissions, reason: why } = read.data;
    // People decide what they see.
    if (!command && !network) return null;
    const again = isAgain(`${itemId} ${command ?? JSON.stringify(network)}`);
    const input = whatIs({ command, cwd, network, additionalPermissions, kind: kind === 'command' ? null : kind, again });
    return { request: { tool: network ? 'network' : 'shell', input, ...whyOf(why) }, answer: decisionOf };
  },
  'item/fileChange/requestApproval': (params, { changesOf, isAgain }) => {
    const read = filesSchema.safeParse(params);
    const changes = read.success ? changesOf(read.data.itemId) : undefined;
    if (!read.success || changes === undefined || changes.length === 0) return null;
    const { itemId, grantRoot, reason: why } = read.data;
    const input = whatIs({ changes, grantRoot, again: isAgain(itemId) });
    return { request: { tool: 'apply_patch', input, ...whyOf(why) }, answer: decisionOf };
  },
  'item/permissions/requestApproval': (params) => {
    const read = profileSchema.safeParse(params);
    if (!read.success) return null;
    const { cwd, permissions, reason: why } = read.data;
    return {
      request: { tool: 'request_permissions', input: whatIs({ permissions, cwd }), ...whyOf(why) },
      // For its turn only: what is not granted is refused.
      answer: (isAllowed) => ({ permissions: isAllowed ? permissions : {}, scope: 'turn' }),
    };
  },
  'mcpServer/elicitation/request': (params) => {
    const read = toolSchema.safeParse(params);
    if (!read.success) return null;
    const { serverName, _meta: meta } = read.data;
    return {
      request: { tool: `mcp__${serverName}__${meta.tool_name}`, input: meta.tool_params ?? {} },
      answer: (isAllowed) => ({ action: isAllowed ? 'accept' : 'decline', content: isAllowed ? {} : null, _meta: null }),
    };
  },
};

/** Without what it does not say. */
function whatIs(said: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined && value !== null && value !== false));
}

function decisionOf(isAllowed: boolean): object {
  // Never for the session: what people allow for more than once is kept by Muster.
  return { decision: isAllowed ? 'accept' : 'decline' };
}

function whyOf(why: string | null | undefined): Pick<PermissionRequest, 'reason'> {
  return why ? { reason: why } : {};
}
