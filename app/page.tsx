/** What a person sees who opens the address of the API in a browser. */
export default function Home() {
  return (
    <main>
      <h1>Bot Detection API</h1>
      <p>Scored browsing sessions over REST under /v1, and signed webhooks about them.</p>
      <ul>
        <li>
          <a href="/swagger">Interactive documentation</a>
        </li>
        <li>
          <a href="/openapi/v3.json">OpenAPI document</a>
        </li>
        <li>
          <a href="/health">Health</a>
        </li>
      </ul>
    </main>
  );
}
