/**
 * Hosts of Azure that serve models: OpenAI resources, AI services, Foundry, and API Management in front of them; also in the clouds of the US
 * government and of China.
 */
const AZURE =
  /\.(?:openai\.azure|cognitiveservices\.azure|services\.ai\.azure|models\.ai\.azure|inference\.ai\.azure|azure-api)\.(?:com|us|cn|net)$/;
/** API Management has a header of its own for its keys, unless an operator renames it. */
const API_MANAGEMENT = /\.azure-api\.(?:net|us|cn)$/;
const OPENAI = /(?:^|\.)api\.openai\.com$/;
/** Tokens of Entra, which go as bearer tokens where keys do not. */
const TOKEN = /^ey[\w-]+\.[\w-]+\.[\w-]*$/;

/** Whether models there are OpenAI's, whose newer ones refuse the old name of the bound. */
export function isOpenai(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  return OPENAI.test(hostname) || AZURE.test(hostname);
}

/** The headers that bring a key to an endpoint. */
export function keyHeaders(baseUrl: string, apiKey: string | undefined): Record<string, string> {
  if (apiKey === undefined) return {};
  const { hostname } = new URL(baseUrl);
  if (!AZURE.test(hostname) || TOKEN.test(apiKey)) return { authorization: `Bearer ${apiKey}` };
  return { 'api-key': apiKey, ...(API_MANAGEMENT.test(hostname) ? { 'ocp-apim-subscription-key': apiKey } : {}) };
}

/** The address of a path below a base URL, whose query stays, as Azure's `?api-version=2024-10-21`. */
export function addressBelow(baseUrl: string, path: string): string {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
  return url.href;
}
