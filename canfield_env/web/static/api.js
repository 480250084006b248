// Asking the server. Every answer is JSON; what went wrong is {"error": text}.

export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export async function ask(path, body) {
  const options = body === undefined
    ? {}
    : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  let answer;
  try {
    answer = await fetch(`/api/${path}`, options);
  } catch {
    throw new ApiError(0, "The server does not answer. Is `canfield serve` still running?");
  }
  const data = await answer.json().catch(() => ({ error: `The server answered ${answer.status}` }));
  if (!answer.ok) throw new ApiError(answer.status, data.error ?? `The server answered ${answer.status}`);
  return data;
}
