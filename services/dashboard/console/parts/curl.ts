interface CurlCall {
  method?: string;
  /** With its query, from `/v1` on. */
  path: string;
  /** The value to send as JSON. */
  body?: unknown;
}

/** A command for a shell that makes the call, with the address and the key in variables of the environment. */
export function curlOf({ method = 'GET', path, body }: CurlCall): string {
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"$MUSTER_URL${quoted(path)}"`,
    '-H "Authorization: Bearer $MUSTER_API_KEY"',
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(body).replaceAll("'", String.raw`'\''`)}'`]),
  ];
  return lines.join(' \\\n  ');
}

/** Inside double quotes. */
function quoted(path: string): string {
  return path.replaceAll(/["$`\\]/g, String.raw`\$&`);
}
