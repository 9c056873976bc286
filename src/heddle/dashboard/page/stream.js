// Server-sent events over fetch: EventSource cannot send a header, and a token in an address would end up in logs.
const AGAIN_MS = 1000;

export async function listen(token, tell, lost) {
  for (;;) {
    try {
      const answer = await fetch("/stream", { headers: { authorization: `Bearer ${token}` }, cache: "no-store" });
      if (answer.status === 403) return lost("refused");
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      await readEvents(answer.body.getReader(), tell);
      lost("ended");
    } catch (error) {
      lost(String(error));
    }
    await new Promise((done) => setTimeout(done, AGAIN_MS));
  }
}

async function readEvents(reader, tell) {
  const decoder = new TextDecoder();
  let left = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    left += decoder.decode(value, { stream: true });
    for (let end; (end = left.indexOf("\n\n")) >= 0; left = left.slice(end + 2)) tell(JSON.parse(left.slice(6, end)));
  }
}
