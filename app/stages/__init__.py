"""What each background job does, step by step, without knowing how it is made durable (that is ``app.workflows``)."""
