"""Why jobs took as long as they did: what each waited for."""
